internal import ByteStreams
public import Futures

/// A TCP server on several loops, each on a thread of its own, for more connections than one core can serve.
///
/// Each loop listens on the same port. The system spreads the connections over the loops by their origin, not by load
/// (`SO_REUSEPORT`). A connection stays on its loop, where the handler is called. The group lives until it is shut
/// down, even without references. Any thread may use it.
///
/// ```swift
/// let group = try TCPServerGroup.listen(host: "127.0.0.1", port: 0, loops: 2) { connection in
///     connection.forEachChunk { chunk in connection.write(chunk) }
/// }
/// ```
///
/// Another program of the same user that also shares the port, such as a second copy of this one, can listen on it too.
public final class TCPServerGroup: Sendable {
    private struct Member: Sendable {
        let thread: LoopThread
        let server: LoopResident<TCPServer>
    }

    /// The address on which each loop listens, with the port that the system picked if 0 was asked for.
    public let localAddress: SocketAddress
    private let members: [Member]
    private let summary = Locked<ShutdownSummary?>(nil)

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops. Their threads are called `name` and a
    /// number. Closes each connection when the future that `handler` returned for it completes.
    ///
    /// The limits apply to each loop. Blocks the calling thread until all loops listen.
    /// Fails as ``TCPServer`` does, when no descriptors or threads are left, and with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `loops` is less than 1 or more than 1024.
    public static func listen<Ignored>(
        host: String, port: Int, loops: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), name: String = "loop",
        _ handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Future<Ignored>
    ) throws -> TCPServerGroup {
        try TCPServerGroup(host, port, loops, backlog, limits, accepting, name) { TCPServer(on: $0, handler) }
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops. Their threads are called `name` and a
    /// number. Closes each connection when `handler` returns.
    ///
    /// Runs `handler` as ``Futures/Future/init(on:isolation:_:)`` runs its body, on the connection's loop. A trailing
    /// closure that awaits needs no label.
    public static func listen(
        host: String, port: Int, loops: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), name: String = "loop",
        awaiting handler: @escaping @Sendable (_ connection: TCPConnection) async throws -> Void
    ) throws -> TCPServerGroup {
        try TCPServerGroup(host, port, loops, backlog, limits, accepting, name) {
            TCPServer(on: $0, awaiting: handler)
        }
    }

    /// Listens on `port` of `host`, as ``TCPListener`` does, with `loops` loops. Their threads are called `name` and a
    /// number. Each connection lives until it is closed.
    public static func listen(
        host: String, port: Int, loops: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), name: String = "loop",
        owning handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServerGroup {
        try TCPServerGroup(host, port, loops, backlog, limits, accepting, name) {
            TCPServer(on: $0, owning: handler)
        }
    }

    /// Makes a trailing closure that returns nothing ambiguous.
    @available(*, deprecated, message: "Return the future of what the handler does, or write owning:")
    public static func listen(
        host: String, port: Int, loops: Int, backlog: Int = 1024, limits: StreamLimits = StreamLimits(),
        accepting: AcceptLimits = AcceptLimits(), name: String = "loop",
        orReturnItsFuture handler: @escaping @Sendable (_ connection: TCPConnection) throws -> Void
    ) throws -> TCPServerGroup {
        try TCPServerGroup(host, port, loops, backlog, limits, accepting, name) {
            TCPServer(on: $0, owning: handler)
        }
    }

    private init(
        _ host: String, _ port: Int, _ loops: Int, _ backlog: Int, _ limits: StreamLimits,
        _ accepting: AcceptLimits, _ name: String,
        _ makeServer: @escaping @Sendable (EventLoop) -> TCPServer
    ) throws {
        guard (1...1024).contains(loops) else {
            throw FutureError.invalidArgument("\(loops) loops are out of range; give 1 to 1024")
        }
        var threads: [LoopThread] = []
        var members: [Member] = []
        var address: SocketAddress?
        do {
            for number in 0..<loops {
                let thread = try EventLoop.onNewThread(name: "\(name)-\(number)")
                threads.append(thread)
                let loop = thread.loop
                let (host, port) = address.map { ($0.host, $0.port) } ?? (host, port)
                let (taken, server) = try wait(on: loop) {
                    let server = makeServer(loop)
                    try server.setAcceptLimits(accepting)
                    let taken = try server.listen(
                        host: host, port: port, backlog: backlog, sharingPort: true, limits: limits)
                    return (taken, LoopResident(server, on: loop.core))
                }
                address = address ?? taken
                members.append(Member(thread: thread, server: server))
            }
        } catch {
            for thread in threads { thread.shutdown() }
            for thread in threads { thread.join() }
            throw error
        }
        self.members = members
        localAddress = address!
    }

    /// The loops of the group, to inspect them or to run other things on them.
    public var loops: [EventLoop] { members.map(\.thread.loop) }

    /// Calls `body` on each loop with its server, and collects the results in the order of ``loops``. The future
    /// belongs to `loop`.
    ///
    /// Fails with what `body` throws, and with ``Futures/FutureError/shutDown`` if the group has been shut down.
    public func onEach<Value: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (_ server: TCPServer) throws -> Value
    ) -> Future<[Value]> {
        flatOnEach(on: loop) { server in server.loop.succeeded(try body(server)) }
    }

    /// Calls `body` on each loop with its server, and returns the results in the order of ``loops``.
    ///
    /// Fails with what `body` throws, and with ``Futures/FutureError/shutDown`` if the group has been shut down.
    public func onEach<Value: Sendable>(
        _ body: @escaping @Sendable (_ server: TCPServer) throws -> Value
    ) async throws -> [Value] {
        let first = members[0].thread.loop
        return try await first.run { self.onEach(on: first, body) }
    }

    private func flatOnEach<Value: Sendable>(
        on loop: EventLoop, failFast: Bool = true,
        _ body: @escaping @Sendable (TCPServer) throws -> Future<Value>
    ) -> Future<[Value]> {
        if summary.withLock({ $0 != nil }) { return loop.failed(FutureError.shutDown) }
        return Future.all(
            members.map { member in
                loop.succeeded().flatMap(on: .loop(member.thread.loop)) {
                    guard let server = member.server.value else { throw FutureError.shutDown }
                    return try body(server)
                }
            }, failFast: failFast, on: loop)
    }

    /// Ends all servers as ``SocketServer/shutdown(within:)`` does, ends the threads, and completes with the sum. The
    /// future belongs to `loop`.
    ///
    /// Can be called again, also with a shorter grace, and while it drains. Cancelling changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration, on loop: EventLoop) -> Future<ShutdownSummary> {
        end(within: grace, on: loop) { $0.shutdown(within: grace) }
    }

    /// Ends all servers as ``SocketServer/drain(within:)`` does, ends the threads, and completes with the sum. The
    /// future belongs to `loop`.
    ///
    /// Can be called again, also with a shorter deadline. Cancelling changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration, on loop: EventLoop) -> Future<ShutdownSummary> {
        end(within: deadline, on: loop) { $0.drain(within: deadline) }
    }

    /// Ends all servers as ``SocketServer/shutdown(within:)`` does, ends the threads, and returns the sum.
    ///
    /// Can be called again, also with a shorter grace, and while it drains. Cancelling the task changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `grace` is negative.
    public func shutdown(within grace: Duration) async throws -> ShutdownSummary {
        try await withCheckedThrowingContinuation { continuation in
            end(within: grace, { $0.shutdown(within: grace) }) { continuation.resume(with: $0) }
        }
    }

    /// Ends all servers as ``SocketServer/drain(within:)`` does, ends the threads, and returns the sum.
    ///
    /// Can be called again, also with a shorter deadline. Cancelling the task changes nothing.
    /// Fails with ``Futures/FutureError/invalidArgument(_:)`` if `deadline` is negative.
    public func drain(within deadline: Duration) async throws -> ShutdownSummary {
        try await withCheckedThrowingContinuation { continuation in
            end(within: deadline, { $0.drain(within: deadline) }) { continuation.resume(with: $0) }
        }
    }

    private func end(
        within time: Duration, on loop: EventLoop,
        _ body: @escaping @Sendable (TCPServer) -> Future<ShutdownSummary>
    ) -> Future<ShutdownSummary> {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { return loop.failed(FutureError.shutDown) }
        let promise = loop.makeRemotePromise(of: ShutdownSummary.self)
        promise.onCancelRequest { .continue }
        end(within: time, body) { promise.complete($0) }
        return promise.future
    }

    private func end(
        within time: Duration, _ body: @escaping @Sendable (TCPServer) -> Future<ShutdownSummary>,
        _ completion: @escaping @Sendable (Result<ShutdownSummary, any Error>) -> Void
    ) {
        guard time >= .zero else {
            let text = "a time limit of \(time) is negative; give zero or more"
            return completion(.failure(FutureError.invalidArgument(text)))
        }
        if let summary = summary.withLock({ $0 }) { return completion(.success(summary)) }
        let first = members[0].thread.loop
        let accepted = first.execute {
            self.flatOnEach(on: first, failFast: false, body).whenComplete { self.ended($0, completion) }
        }
        if !accepted { completion(.failure(FutureError.shutDown)) }
    }

    /// Called when all servers have ended, or other code has shut down one of the loops.
    private func ended(
        _ result: Result<[ShutdownSummary], any Error>,
        _ completion: @escaping @Sendable (Result<ShutdownSummary, any Error>) -> Void
    ) {
        let total = summary.withLock { summary in
            if let summary { return Result<ShutdownSummary, any Error>.success(summary) }
            let total = result.map { $0.reduce(into: ShutdownSummary()) { $0.add($1) } }
            summary = try? total.get()
            return total
        }
        let ended = Countdown(members.count) { completion(total) }
        for member in members {
            member.thread.shutdown()
            member.thread.whenEnded { ended.count() }
        }
    }
}

/// Runs `body` on the loop and returns its result. Blocks the calling thread.
private func wait<Value: Sendable>(
    on loop: EventLoop, _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
    try loop.wait { loop.succeeded(try body()) }
}

extension ShutdownSummary {
    fileprivate mutating func add(_ other: ShutdownSummary) {
        finished += other.finished
        aborted += other.aborted
        failed += other.failed
    }
}

/// Calls `body` when it has been counted down.
private final class Countdown: Sendable {
    private let left: Locked<Int>
    private let body: @Sendable () -> Void

    init(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        left = Locked(count)
        self.body = body
    }

    func count() {
        let left = left.withLock { left in
            left -= 1
            return left
        }
        if left == 0 { body() }
    }
}
