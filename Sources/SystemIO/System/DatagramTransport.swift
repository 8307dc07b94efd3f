package import Futures

/// A datagram socket, of the operating system or of a simulated network.
package protocol DatagramTransport: AnyObject {
    var loop: LoopCore { get }
    var localAddress: SocketAddress? { get }
    /// The only peer of the socket, or `nil` if the socket accepts datagrams from anyone.
    var peerAddress: SocketAddress? { get }
    var isClosing: Bool { get }
    /// Calls `receiver` from now on. A receiver that is being released passes `nil`.
    func serve(_ receiver: (any DatagramReceiver)?)
    /// Asks `receiver` for the number of datagrams that it wants, and looks for them as long as that is not zero.
    func wantedChanged()
    /// Sends the queued datagrams, and completes their promises. Stops when the system takes no more, and calls
    /// `transportCanSend` later. With `isLast`, tries even if the system has not said yet that it takes more.
    func flush(_ queue: OutgoingDatagrams, isLast: Bool)
    func set(_ option: DatagramOption, to value: Int) throws(SystemError)
    func value(of option: DatagramOption) throws(SystemError) -> Int
    /// Joins or leaves a multicast group on the interface numbered `interface`: for one `source`, or for all if `nil`.
    func changeMembership(
        of group: SocketAddress, interface: UInt32, source: SocketAddress?, joins: Bool
    ) throws(SystemError)
    /// The number of datagrams that were lost because nobody read them in time.
    var dropped: Int { get }
    /// Closes the socket. `failure` is the reason, or `nil` if the user closes it.
    func closeSocket(_ failure: (any Error)?)
    /// Gives up the socket, and returns its descriptor, which the caller then owns. Returns `nil` if the socket has
    /// been closed.
    func release() -> CInt?
}

extension DatagramTransport {
    /// The two ends of the socket as a text.
    package var ends: String {
        [localAddress, peerAddress].compactMap { $0?.description }.joined(separator: " – ")
    }
}

/// The part of a datagram socket that its transport calls, always in a turn of the loop.
package protocol DatagramReceiver: AnyObject {
    /// The number of datagrams to look for now. A transport may deliver more at once if the system has combined
    /// several.
    var wanted: Int { get }
    func transportDidReceive(_ bytes: RawSpan, _ header: DatagramHeader)
    /// Called when all datagrams that had arrived have been delivered.
    func transportDidReceiveAll()
    /// Called when the network has reported that a datagram was not delivered.
    func transportDidLearn(of error: SystemError)
    /// Called when the system cannot receive. The system is asked again when something new waits for datagrams.
    func transportCannotReceive(because error: SystemError)
    /// Called after `flush` has left something in the queue.
    func transportCanSend()
    /// Called before the socket is closed because the loop is being shut down or the socket has been lost.
    func transportWillAbort(because error: any Error)
    /// Called last, after the socket has been closed.
    func transportDidClose()
}

/// The numeric options of a datagram socket.
package enum DatagramOption {
    case broadcast, timeToLive, multicastTimeToLive, multicastLoopback, multicastInterface
    case receiveBuffer, sendBuffer
}
