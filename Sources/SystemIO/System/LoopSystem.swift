package import Futures

/// The system on which the programs of a loop run: the operating system for a loop on libuv, and a simulated one for a
/// virtual loop. The system creates objects such as sockets, which are then called directly.
package protocol LoopSystem: LoopDriver {
    /// The part that takes over descriptors. `nil` in a simulation, which has no descriptors.
    var descriptors: (any DescriptorSystem)? { get }
    /// Returns a socket that listens on `address`.
    func listen(on address: SocketAddress, _ options: ListenOptions) throws(SystemError) -> any ListenerSocket
    /// Returns a socket of the UNIX domain that listens at `path`. Throws `FutureError.invalidArgument` if
    /// there is a file at `path` that is not a socket.
    func listen(atPath path: SocketAddress, _ options: ListenOptions) throws -> any ListenerSocket
    /// Returns a socket that can connect to `peer`. Binds the socket to `address`, if that is not `nil`.
    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress
    ) throws(SystemError) -> any ConnectingSocket
    /// Connects to a path at once, or throws an error. The error is `EAGAIN` if the server's backlog is full.
    func connect(toPath address: SocketAddress) throws(SystemError) -> any SocketTransport
    /// Returns a datagram socket, bound to `local` and connected to `peer`. One of the two may be `nil`. A socket of
    /// the UNIX domain has no `local`.
    func makeDatagramSocket(
        local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> any DatagramTransport
    /// Returns a datagram socket at `path`, connected to `peer` if that is not `nil`. Throws
    /// `FutureError.invalidArgument` if there is a file at `path` that is not a socket.
    func makeDatagramSocket(
        atPath path: SocketAddress, permissions: UInt32?, peer: SocketAddress?
    ) throws -> any DatagramTransport
    /// Starts a program. Throws `ProcessError` if that fails.
    func startProcess(_ launch: ProcessLaunch) throws -> ProcessStart
    /// Starts or stops adopting orphans: descendants of this process whose parents have ended become its children.
    /// Returns `false` if that changes nothing.
    func adoptOrphans(_ isAdopting: Bool) throws(SystemError) -> Bool
    /// Reaps the adopted processes that have ended, and returns the others. `nil` if they are not known now.
    func orphans() -> [Int32]?
    /// Catches a signal until the watch is closed. With `once`, only until the signal has been delivered once.
    func catchSignal(_ number: CInt, once: Bool) throws(SystemError) -> any SignalWatch
    /// Runs a job off the loop, in libuv's thread pool or in a simulated pool. Called on the loop's thread.
    func runInPool(_ job: RemoteJob)
    /// The files that the programs of the loop use.
    var fileSystem: any FileSystem { get }
    /// Runs a job that uses these files, off the loop: on a thread of the file pool, or in a simulated pool. Called on
    /// the loop's thread, even after the loop has been shut down: then the job only closes something.
    func runOnDisk(_ job: RemoteJob)
    /// Creates a source of the changes of files. Throws `EMFILE` if the user has too many, or the process too many
    /// descriptors.
    func makeFileEvents() throws(SystemError) -> any FileEventSource
    /// The `FileEventHub` of the loop, kept alive by this reference. This folder may not name the type.
    var fileEventHub: AnyObject? { get set }
    /// The time of the wall clock, counted from the beginning of 1970 in UTC.
    var wallClock: Duration { get }
    /// The `NameResolver` of the loop, or `nil` if no code has set one. This folder may not name the type.
    var resolver: Any? { get set }
    /// The `TCPServer` of a loop that belongs to a group. The system releases it when the loop ends. This folder may not
    /// name the type.
    var resident: AnyObject? { get set }
    /// Opens the standard input, output or error of a simulated process: the pipe with `number` 0, 1 or 2. Returns
    /// `nil` if the process is a real one. Throws `FutureError.invalidArgument` if another stream uses the pipe, which
    /// may be opened again when that stream has been closed.
    func openStandardPipe(_ number: CInt) throws -> (any StreamCarrier)?
    /// Creates another loop of the same simulated process. Returns `nil` if the process is a real one: its loops have
    /// threads of their own.
    func makeGroupLoop() throws -> (any GroupLoop)?
    /// Returns how to resolve names, or `nil` if that has not changed since `stamp` was taken.
    func nameConfiguration(unless stamp: [Int]?) -> NameConfiguration?
    /// The `NameResolver` that replaces the operating system's, or `nil` if the operating system is asked.
    var names: Any? { get }
}

/// A loop that a server group creates and ends.
package protocol GroupLoop: Sendable {
    var loop: EventLoop { get }
    /// Calls `body` on the loop, and returns its value.
    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value
    /// Makes the loop end. Returns at once.
    func shutdown()
    /// Returns when the loop has ended.
    func join()
    /// Calls `body` on any thread when the loop has ended.
    func whenEnded(_ body: @escaping @Sendable () -> Void)
}

/// A socket that can be connected once, and then becomes the transport of a TCP connection.
package protocol ConnectingSocket: AnyObject {
    /// Connects to `address`, and later calls `completion` once: with the error, or with `nil` if the socket is
    /// connected. If the socket is closed before that, `completion` may or may not be called.
    func connect(to address: SocketAddress, completion: @escaping (SystemError?) -> Void)
    /// Returns the error of a socket that was not connected in time.
    func timeout() -> SystemError
    func close()
    /// Returns the transport of a socket that is connected.
    func connected() -> any TCPTransport
}

/// A listening socket of any kind.
package protocol ListenerSocket: AnyObject {
    var loop: LoopCore { get }
    var localAddress: SocketAddress { get }
    /// The number of connections that may wait in the system: one more than the backlog.
    var capacity: Int { get }
    var isClosing: Bool { get }
    /// Whether `onReady` is called. Otherwise the socket only keeps the loop alive.
    var isWatching: Bool { get }
    /// Called while connections wait, and when the socket no longer listens. `watch(false)` stops the calls.
    /// A call may come outside of a turn.
    var onReady: () -> Void { get set }
    /// Called when the socket no longer listens, while `isWatching` is `false`. Closing the socket stops the
    /// calls. A call may come outside of a turn.
    var onEnd: () -> Void { get set }
    /// Called last, after the socket has been closed.
    var onClose: () -> Void { get set }
    func watch(_ isWatching: Bool)
    /// Accepts a waiting connection. Returns `nil` if no connection waits, or after many broken connections.
    func accept() -> Result<any SocketTransport, SystemError>?
    /// Closes the socket. `failure` is the reason, or `nil` if the user closes it.
    func closeSocket(_ failure: (any Error)?)
    /// Gives up the socket, which continues to listen. Returns its descriptor, which the caller then owns. Returns
    /// `nil` if the socket has been closed.
    func release() -> CInt?
}

/// A watch of a signal, which does not keep the loop alive. A watch for one delivery closes itself after it.
package protocol SignalWatch: AnyObject {
    var onDelivery: () -> Void { get set }
    func close()
}
