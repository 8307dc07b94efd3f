public import Futures

/// A pool of connections to one server, for protocols in which each request under way needs a connection to itself.
///
/// The pool makes a connection when one is needed and none is idle, up to a limit. Further requests wait, and get
/// connections in the order in which they asked. A connection that was given back is kept for the next request. The
/// pool reads from idle connections: it throws one away when its peer ends it, or sends something that nobody has asked
/// for.
///
/// ```swift
/// let pool = try ConnectionPool(on: loop) { TCPConnection.connect(host: "127.0.0.1", port: 7007, on: loop) }
/// let answer = pool.with { connection in
///     connection.write("hello\n")
///     return connection.readLine().unwrap()
/// }
/// ```
///
/// A peer may end a connection just when the pool lends it. Then the first use fails: repeat the request on another
/// connection, if that does no harm. Idle connections keep the loop running until their time is up. When the pool is
/// released, they are closed. Use a pool only on its loop's thread.
public final class ConnectionPool<Connection: PooledConnection> {
    public var loop: EventLoop { core }
    public let limits: PoolLimits
    private let core: LoopCore
    private let connect: () throws -> Future<Connection>
    private let permits: FutureSemaphore
    private var idle: [IdleConnection] = []
    private var lent: [ObjectIdentifier: Connection] = [:]
    /// Those that nobody uses any more, and that have not ended.
    private var closing: [ObjectIdentifier: Connection] = [:]
    private var connecting: [ObjectIdentifier: Future<Connection>] = [:]
    /// The promise of the end. `nil` as long as the pool takes requests.
    private var endPromise: Promise<Int>?
    /// The promise of the membership in a scope.
    private var endedPromise: Promise<Void>?
    /// The number of requests that were given up at the deadline of the drain. `nil` before the deadline.
    private var cutOffCount: Int?
    private var isCutOff: Bool { cutOffCount != nil }

    private final class IdleConnection {
        let connection: Connection
        var watch: Future<Void>?
        var timer: ScheduledTask<Void>?

        init(_ connection: Connection) { self.connection = connection }

        /// Ends the wait. Returns whether the connection can be used.
        func wake() -> Bool {
            timer?.cancel()
            guard let watch, !watch.isCompleted else { return false }
            watch.cancel(.evenIfOthersWaiting)
            return connection.isReusable
        }
    }

    /// Creates an empty pool, which calls `connect` for each connection. Throws `FutureError.invalidArgument` if
    /// `limits` are out of range.
    public init(
        limits: PoolLimits = PoolLimits(), on loop: EventLoop,
        connect: @escaping () throws -> Future<Connection>
    ) throws {
        loop.core.checkThread()
        try limits.validate()
        self.limits = limits
        self.connect = connect
        core = loop.core
        permits = FutureSemaphore(count: limits.maxConnections, on: loop)
    }

    deinit {
        // Not by `close`: nobody waits for their ends, and nothing may refer to the pool any more.
        for entry in idle {
            _ = entry.wake()
            entry.connection.close()
        }
    }

    /// The number of idle connections. `lentCount` is the number of connections that requests use.
    public var idleCount: Int { idle.count }
    public var lentCount: Int { lent.count }
    /// The number of requests that wait for a connection.
    public var waitingCount: Int { permits.waitingCount }

    /// Calls `body` with a connection, and gives the connection back when the future that `body` returns has a value. The
    /// returned future has the same outcome as that future.
    ///
    /// If the future of `body` fails or is cancelled, or `body` throws, nobody knows what has been sent and read. So the
    /// connection is aborted. If the returned future is cancelled while the request waits, `body` is never called.
    ///
    /// Fails with ``PoolError``, with the error of `connect`, and after ``drain(within:)`` with `FutureError.closed`.
    public func with<Value>(_ body: @escaping (_ connection: Connection) throws -> Future<Value>) -> Future<
        Value
    > {
        acquire().flatMap { lease in
            var isUsable = false
            return try body(lease.connection).tap { _ in isUsable = true }
                .always { if isUsable { lease.release() } else { lease.discard() } }
        }
    }

    /// Completes with a connection that the caller gives back. Fails as ``with(_:)`` does.
    public func acquire() -> Future<PoolLease<Connection>> {
        core.checkThread()
        guard endPromise == nil else { return core.failed(FutureError.closed("pool")) }
        if let permit = permits.tryAcquire() { return lend(permit) }
        guard permits.waitingCount < limits.maxWaiting else {
            return core.failed(PoolError.tooManyWaiting(permits.waitingCount))
        }
        let permit = permits.acquire()
        guard let limit = limits.waitTimeout else { return permit.flatMap { [self] in lend($0) } }
        return permit.timeout(after: limit)
            .mapError {
                $0 as? FutureError == .timedOut(after: limit) ? PoolError.noneFree(after: limit) : $0
            }
            .flatMap { [self] in lend($0) }
    }

    private func lend(_ permit: Permit) -> Future<PoolLease<Connection>> {
        guard !isCutOff else {
            cutOffCount? += 1
            return core.failed(FutureError.closed("pool"))
        }
        while let entry = idle.popLast() {
            if entry.wake() { return core.succeeded(lease(entry.connection, permit)) }
            entry.connection.abort()
        }
        let promise = core.makePromise(of: PoolLease<Connection>.self)
        promise.isCalled("a connection for a pool")
        do {
            let future = try connect().given(to: core)
            connecting[ObjectIdentifier(promise)] = future
            promise.onCancelRequest {
                future.cancel(.evenIfOthersWaiting)
                return .cancel
            }
            future.whenComplete { [self] result in
                connecting[ObjectIdentifier(promise)] = nil
                // If the request was cancelled, the lease is dropped, which discards the connection.
                switch result {
                case .success(let connection): promise.succeed(lease(connection, permit))
                case .failure(let error):
                    cutOffCount? += 1
                    permit.release()
                    promise.fail(isCutOff ? FutureError.closed("pool") : error)
                }
            }
        } catch {
            permit.release()
            promise.fail(error)
        }
        return promise.future
    }

    private func lease(_ connection: Connection, _ permit: Permit) -> PoolLease<Connection> {
        connection.checkBelongs(to: core)
        lent[ObjectIdentifier(connection)] = connection
        if isCutOff {
            cutOffCount? += 1
            connection.abort()
        }
        return PoolLease(connection, of: self, permit)
    }

    func takeBack(_ connection: Connection, isUsable: Bool) {
        lent[ObjectIdentifier(connection)] = nil
        guard isUsable, endPromise == nil, connection.isReusable else {
            if isUsable { close(connection) } else { connection.abort() }
            return
        }
        let entry = IdleConnection(connection)
        idle.append(entry)
        entry.timer = core.schedule(after: limits.idleTimeout, keepsLoopAlive: false) {
            [weak self, weak entry] in
            if let entry { self?.remove(entry) }
        }
        let watch = connection.read().map { _ in }
        entry.watch = watch
        watch.whenComplete { [weak self, weak entry] _ in if let entry { self?.remove(entry) } }
    }

    /// Closes an idle connection, if it is still idle.
    private func remove(_ entry: IdleConnection) {
        guard let index = idle.firstIndex(where: { $0 === entry }) else { return }
        idle.remove(at: index)
        _ = entry.wake()
        close(entry.connection)
    }

    /// Closes a connection that nobody uses. The end of the pool as a member of a scope waits for it.
    private func close(_ connection: Connection) {
        closing[ObjectIdentifier(connection)] = connection
        connection.close().whenComplete { [weak self, key = ObjectIdentifier(connection)] _ in
            self?.closing[key] = nil
            self?.completeEnd()
        }
    }

    private func completeEnd() {
        if endPromise?.future.isCompleted == true, closing.isEmpty { endedPromise?.completeLast() }
    }

    // MARK: Ending

    /// Refuses further requests, serves those that wait, and completes when all connections have been given back and the
    /// callbacks of the requests have run. The value is the number of requests that were given up at the deadline. Closes
    /// connections as they come back.
    ///
    /// After `deadline`, aborts the connections that are lent, gives up those that are being made, and fails requests
    /// that still wait with `FutureError.closed`. If several calls give different times, the earliest counts.
    /// Cancelling the returned future changes nothing. Fails with `FutureError.invalidArgument` if `deadline` is
    /// negative.
    @discardableResult
    public func drain(within deadline: Duration) -> Future<Int> {
        core.checkThread()
        do { try requireNotNegative(deadline, givenTo: "drain(within:)") } catch { return core.failed(error) }
        let promise = endPromise ?? beginDraining()
        guard !promise.future.isCompleted else { return promise.future }
        let timer = core.schedule(after: deadline) { [self] in cutOff() }
        promise.future.whenComplete { _ in timer.cancel() }
        return promise.future
    }

    private func beginDraining() -> Promise<Int> {
        let promise = core.makeSharedPromise(of: Int.self)
        endPromise = promise
        for entry in exchange(&idle, with: []) {
            _ = entry.wake()
            close(entry.connection)
        }
        // The last in line gets all permits when everybody before has given them back.
        permits.acquire(limits.maxConnections).whenComplete { [self] _ in
            core.afterCallbacks { [self] in
                promise.succeed(cutOffCount ?? 0)
                completeEnd()
            }
        }
        return promise
    }

    private func cutOff() {
        guard !isCutOff else { return }
        cutOffCount = lent.count
        for future in connecting.values { future.cancel(.evenIfOthersWaiting) }
        for connection in lent.values { connection.abort() }
    }
}

extension ByteStream {
    /// Traps unless this connection belongs to `loop`, the loop of the client that was given it.
    func checkBelongs(to loop: LoopCore) {
        guard core === loop else {
            trap("A client was given a connection of another event loop. Connect on the client's loop.")
        }
    }

    /// Whether the next user of the connection can begin as if it were new.
    fileprivate var isReusable: Bool {
        isOpen && !isAtEnd && !hasUnread && reader == nil && writeSide == .open
    }
}

@available(*, unavailable, message: "A pool belongs to its loop's thread; go there with loop.execute { … }.")
extension ConnectionPool: Sendable {}

extension ConnectionPool: ScopeMember {
    /// The membership of this pool in a scope, as a resource: ends by ``drain(within:)`` without waiting, and when all
    /// connections have been closed. If the scope is cancelled, aborts them.
    public var membership: ScopeMembership {
        let promise = endedPromise ?? core.makeSharedPromise()
        endedPromise = promise
        completeEnd()
        return ScopeMembership(
            ended: promise.future,
            cancel: {
                self.drain(within: .zero)
                for connection in self.closing.values { connection.abort() }
            },
            release: { self.drain(within: .zero) })
    }
}
