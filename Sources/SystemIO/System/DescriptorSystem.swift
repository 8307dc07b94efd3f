package import Futures

/// The part of a system that takes over descriptors opened by other code. Only the operating system has this part.
///
/// A function that throws leaves the descriptor to the caller.
package protocol DescriptorSystem: AnyObject {
    /// Throws `FutureError.invalidArgument` if the descriptor belongs to an object of this library, or is watched.
    func checkHasNoOwner(_ descriptor: CInt) throws
    /// Takes over a connected stream socket.
    func adopt(_ descriptor: CInt, local: SocketAddress, peer: SocketAddress) throws -> any SocketTransport
    /// Takes over a socket that listens on `address`.
    func adopt(_ descriptor: CInt, listeningOn address: SocketAddress) throws -> any ListenerSocket
    /// Takes over a datagram socket.
    func adoptDatagrams(_ descriptor: CInt) throws -> any DatagramTransport
    /// Opens the terminal of `descriptor` again. If that is impossible and `keepsMode` is `false`, the returned
    /// terminal shares the mode of `descriptor`, which becomes non-blocking.
    func openTerminal(
        _ descriptor: CInt, keepsMode: Bool
    ) throws(SystemError) -> (carrier: any TerminalCarrier, sharesMode: Bool)
    /// Takes over a descriptor that nobody else in this process uses.
    func openStream(_ descriptor: CInt, as use: DescriptorUse) throws -> any StreamCarrier
    /// Watches a descriptor that other code continues to use.
    func watch(_ descriptor: CInt) throws -> any DescriptorPoll
}

/// The way in which a stream reads and writes its descriptor.
package enum DescriptorUse {
    case file
    case socket
    /// A socket that other programs share, and that keeps its mode.
    case sharedSocket
    /// One end of a pipe. A shutdown of its write side also ends `original`.
    case pipe(original: CInt?)
}

/// The transport of a stream over a terminal.
package protocol TerminalCarrier: StreamCarrier {
    /// The descriptor of the terminal. `nil` if the terminal has been closed.
    var descriptor: CInt? { get }
    /// Returns the number of columns and rows of the window.
    func size() throws(SystemError) -> (columns: Int, rows: Int)
}

/// A watch of a descriptor that other code owns.
package protocol DescriptorPoll: AnyObject {
    var loop: LoopCore { get }
    var descriptor: CInt { get }
    var isClosing: Bool { get }
    /// The reason why the descriptor can no longer be watched, or `nil`.
    var loss: (any Error)? { get }
    /// Called with the events that occur. The calls come outside of a turn.
    var onEvents: (DescriptorEvents) -> Void { get set }
    /// Called when the descriptor has been closed, or refers to another file. The call may come outside of a turn, and
    /// runs no user code.
    var onLoss: (any Error) -> Void { get set }
    /// Called last, after the watch has been closed.
    var onClose: () -> Void { get set }
    /// Sets the events of interest. Without any, the watch does not keep the loop alive.
    func setInterest(_ interest: DescriptorEvents)
    func closeWatch()
}
