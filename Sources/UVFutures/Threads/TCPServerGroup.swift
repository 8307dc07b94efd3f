public import Futures
internal import SystemIO

/// A TCP server on several loops, for more connections than one core can serve. Each loop runs on a thread of its
/// own. On a simulated host of a `World`, the loops are further loops of that host, and the world runs them.
///
/// All loops listen on the same port. The system distributes the connections over the loops by the addresses of
/// the peers, and not by load (`SO_REUSEPORT`). A connection stays on its loop, and the handler is called on that
/// loop. The group lives until it is shut down, even if there are no references to it. Any thread may use the
/// group.
///
/// ```swift
/// let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
///     connection.forEachChunk { chunk in connection.write(chunk) }
/// }
/// ```
///
/// If another process of the same user also shares the port, for example a second copy of this program, that
/// process can listen on the same port, too.
public final class TCPServerGroup: Sendable {
    /// The address on which all loops listen. If the requested port was 0, the address has the port that the system
    /// picked.
    public let localAddress: SocketAddress
    let members: [any GroupLoop]
    let summary = Locked<ShutdownSummary?>(nil)

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops, and returns the group. For
    /// each connection, `handler` returns a future. The connection is closed when that future completes.
    ///
    /// The name of each thread is `name` followed by a number. `options` and `accepting` apply to each loop separately,
    /// and ``ListenOptions/sharingPort`` is always on. `proxyProtocol` is the ``SocketServer/proxyProtocol`` of each
    /// server from its first connection on. Blocks the calling thread until all loops listen.
    ///
    /// `loop` is the loop of your program, and says on which system the group runs. The group never uses this loop
    /// itself. If `loop` runs on libuv or is `nil`, the group has threads. If `loop` belongs to a simulated host, the
    /// group has no threads, and is used on the thread of `loop`.
    ///
    /// Throws the errors of ``TCPListener``, and ``SystemError`` if no descriptors or no threads are left. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if `loops` is less than 1 or more than 1024, if a value of
    /// `proxyProtocol` is out of range, or if `loop` is an `EventLoop.virtual()`, which has no further loops.
    /// Throws ``Futures/FutureError/shutDown`` if `loop` is simulated and has been shut down.
    public static func listen<Ignored>(
        host: String, port: Int, loops: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), proxyProtocol: ProxyProtocol? = nil, name: String = "loop",
        on loop: EventLoop? = nil,
        _ handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Future<Ignored>
    ) throws -> TCPServerGroup {
        try Self(host, port, loops, options, accepting, proxyProtocol, name, loop) {
            TCPServer(on: $0, handler)
        }
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops, and returns the group. Each
    /// connection is closed when `handler` returns. `name` and `loop` have the same meaning as in the other
    /// `listen`.
    ///
    /// Runs `handler` on the connection's loop, in the same way as ``Futures/Future/init(on:isolation:_:)``
    /// runs its body. You can write `handler` as a trailing closure, without the label `awaiting`.
    public static func listen(
        host: String, port: Int, loops: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), proxyProtocol: ProxyProtocol? = nil, name: String = "loop",
        on loop: EventLoop? = nil,
        awaiting handler: @escaping @Sendable (_ connection: TCPConnection) async throws -> Void
    ) throws -> TCPServerGroup {
        try Self(host, port, loops, options, accepting, proxyProtocol, name, loop) {
            TCPServer(on: $0, awaiting: handler)
        }
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops, and returns the group. Each
    /// connection stays open until your code closes it. `name` and `loop` have the same meaning as in the other
    /// `listen`.
    public static func listen(
        host: String, port: Int, loops: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), proxyProtocol: ProxyProtocol? = nil, name: String = "loop",
        on loop: EventLoop? = nil,
        owning handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServerGroup {
        try Self(host, port, loops, options, accepting, proxyProtocol, name, loop) {
            TCPServer(on: $0, owning: handler)
        }
    }

    /// Do not call this overload. It exists so that a call with a trailing closure that returns nothing is
    /// ambiguous and does not compile. Use a closure that returns a future, or write the label `owning:`.
    @available(*, deprecated, message: "Return the future of the handler's work, or write the label owning:")
    public static func listen(
        host: String, port: Int, loops: Int, options: ListenOptions = ListenOptions(),
        accepting: AcceptLimits = AcceptLimits(), proxyProtocol: ProxyProtocol? = nil, name: String = "loop",
        on loop: EventLoop? = nil,
        orReturnItsFuture handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServerGroup {
        try Self(host, port, loops, options, accepting, proxyProtocol, name, loop) {
            TCPServer(on: $0, owning: handler)
        }
    }

    private init(
        _ host: String, _ port: Int, _ loops: Int, _ options: ListenOptions,
        _ accepting: AcceptLimits, _ proxyProtocol: ProxyProtocol?, _ name: String, _ owner: EventLoop?,
        _ makeServer: @escaping @Sendable (EventLoop) -> TCPServer
    ) throws {
        try requireArgument((1...1024).contains(loops), "\(loops) loops are out of range; give 1 to 1024")
        try proxyProtocol?.validate()
        var options = options
        options.sharingPort = true
        var members: [any GroupLoop] = []
        var address: SocketAddress?
        do {
            for number in 0..<loops {
                let member =
                    try owner?.system.makeGroupLoop() ?? EventLoop.onNewThread(name: "\(name)-\(number)")
                members.append(member)
                let loop = member.loop
                let (host, port) = address.map { ($0.host, $0.port) } ?? (host, port)
                let taken = try member.call { [options] in
                    let server = makeServer(loop)
                    try server.setAcceptLimits(accepting)
                    server.proxyProtocol = proxyProtocol
                    let taken = try server.listen(host: host, port: port, options: options)
                    loop.system.resident = server
                    return taken
                }
                address = address ?? taken
            }
        } catch {
            for member in members { member.shutdown() }
            for member in members { member.join() }
            throw error
        }
        self.members = members
        localAddress = address!
    }

    /// The loops of the group. Use them to read the statistics of the loops, or to run other work on them.
    public var loops: [EventLoop] { members.map(\.loop) }

    /// Calls `body` once on each loop, with the server of that loop. Completes with the results, in the order of
    /// ``loops``. The returned future belongs to `loop`.
    ///
    /// If a call of `body` throws, this function fails at once with that error. If several calls throw, the first
    /// error counts. Calls that have started continue, and their results are dropped. Calls that have not started
    /// are not made. Fails with ``Futures/FutureError/shutDown`` if the group has been shut down.
    ///
    /// ```swift
    /// let open = group.onEach(on: loop) { server in server.activeConnections }.map { $0.reduce(0, +) }
    /// ```
    public func onEach<Value: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (_ server: TCPServer) throws -> Value
    ) -> Future<[Value]> {
        flatOnEach(on: loop) { server in server.loop.succeeded(try body(server)) }
    }

    /// Calls `body` once on each loop, with the server of that loop. Returns the results, in the order of
    /// ``loops``.
    ///
    /// If a call of `body` throws, this function throws that error at once. If several calls throw, the first
    /// error counts. Calls that have started continue, and their results are dropped. Calls that have not started
    /// are not made. Throws ``Futures/FutureError/shutDown`` if the group has been shut down.
    public func onEach<Value: Sendable>(
        _ body: @escaping @Sendable (_ server: TCPServer) throws -> Value
    ) async throws -> [Value] {
        let first = members[0].loop
        return try await first.run { self.onEach(on: first, body) }
    }

    func flatOnEach<Value: Sendable>(
        on loop: EventLoop, failFast: Bool = true,
        _ body: @escaping @Sendable (TCPServer) throws -> Future<Value>
    ) -> Future<[Value]> {
        if summary.withLock({ $0 != nil }) { return loop.failed(FutureError.shutDown) }
        return Future.all(
            members.map { member in
                loop.succeeded().flatMap(on: .loop(member.loop)) {
                    guard let server = member.loop.system.resident as? TCPServer else {
                        throw FutureError.shutDown
                    }
                    return try body(server)
                }
            }, failFast: failFast, on: loop)
    }
}
