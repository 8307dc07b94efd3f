public import Futures

/// A resolver that asks the system. The system looks where its configuration says: in files, at name servers, and
/// so on.
///
/// The resolver uses threads of its own, so that neither the loop nor ``Futures/RemoteContext/pool`` ever
/// waits for an answer. These threads end when there are no more names to look up. Callers that ask for the
/// same name at the same time share the answer. The resolver does not keep answers for later.
///
/// The resolver looks up at most ``maxConcurrent`` names at a time. Other names wait in a queue. But the
/// system may take minutes to answer, and a look-up cannot be stopped. So there are two exceptions. First, a
/// look-up no longer counts towards ``maxConcurrent`` when no caller waits for its answer any more. Second,
/// after a name has waited in the queue for 1 s, it is looked up anyway, on an additional thread. The number
/// of threads is at most eight times ``maxConcurrent``. When all of them are in use, all other names wait
/// until a thread is free.
///
/// Any thread and any number of loops may use the resolver.
public final class SystemResolver: NameResolver, Sendable {
    /// The resolver that loops use by default. This resolver looks up two names at a time in the whole
    /// process, with a timeout of five seconds for each caller.
    public static let shared = try! SystemResolver()

    /// The most names that the resolver looks up at the same time. ``SystemResolver`` describes two exceptions.
    public let maxConcurrent: Int
    /// The longest time for which a caller waits for an answer, including the time in the queue.
    public let timeout: Duration
    private let threads: LookupThreads
    /// Whether the loop's system gives the answers. On a virtual loop, that system is simulated.
    private let asksSystem: Bool

    /// The longest time for which a name waits in the queue. After that, the resolver looks it up beyond the limit.
    static let patience = Duration.seconds(1)

    /// Creates a resolver. Throws ``Futures/FutureError/invalidArgument(_:)`` if `maxConcurrent` is not from
    /// 1 to 1024, or if `timeout` is not positive.
    public convenience init(maxConcurrent: Int = 2, timeout: Duration = .seconds(5)) throws(FutureError) {
        try self.init(
            maxConcurrent: maxConcurrent, timeout: timeout, asksSystem: true, lookup: LookupThreads.askSystem)
    }

    /// Creates a resolver that asks `lookup` instead of the system, on threads of its own.
    package init(
        maxConcurrent limit: Int = 2, timeout: Duration = .seconds(5), asksSystem: Bool = false,
        lookup: @escaping @Sendable (String) -> Result<[SocketAddress], ResolutionError>
    ) throws(FutureError) {
        try requireArgument(
            (1...1024).contains(limit), "a limit of \(limit) names at a time is out of range; give 1 to 1024")
        try requirePositive("timeout", timeout)
        maxConcurrent = limit
        self.timeout = timeout
        self.asksSystem = asksSystem
        threads = LookupThreads(limit: limit, maximum: 8 * limit, lookup)
    }

    /// The number of threads, including those whose answer is no longer awaited.
    package var threadCount: Int { threads.count }

    /// Completes with the addresses of `name`. Each address carries `port`. Cancelling the returned future ends
    /// the wait at once. The system may continue to look for the name, but the answer is ignored.
    ///
    /// Fails with ``ResolutionError`` if the system finds no address, or if there is no answer within
    /// ``timeout``. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `name` is malformed or `port` is
    /// out of range.
    /// Calls [`getaddrinfo`](https://man7.org/linux/man-pages/man3/getaddrinfo.3.html).
    public func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { return loop.failed(FutureError.shutDown) }
        return loop.attempt {
            // `Host` rejects a zero byte. The system would look up only the bytes before it.
            if case .numeric(let address) = try Host(name, port: port) { return loop.succeeded([address]) }
            let number = try SocketAddress.checked(port)
            if asksSystem, let names = loop.core.system.names as? any NameResolver {
                return names.resolve(name, port: port, on: loop).limited(to: timeout, lookingUp: name)
            }
            return ask(name, on: loop.core).map { addresses in addresses.map { $0.with(port: number) } }
        }
    }

    /// Waits for the answer of the threads. Whoever cancels the future, or waits too long, leaves them.
    private func ask(_ name: String, on loop: LoopCore) -> Future<[SocketAddress]> {
        let promise = loop.makePromise(of: [SocketAddress].self)
        promise.isCalled("a look-up of the addresses of \(name)")
        let answer = loop.makeRemotePromise(of: [SocketAddress].self)
        let place = threads.ask(name, answer)
        let impatience = loop.schedule(after: Self.patience, keepsLoopAlive: false) { [threads] in
            threads.hurry(place)
        }
        let end = { [threads] in
            impatience.cancel()
            threads.leave(place)
        }
        promise.onCancelRequest {
            end()
            return .cancel
        }
        answer.future.whenComplete { result in
            end()
            promise.complete(result)
        }
        return promise.future.limited(to: timeout, lookingUp: name)
    }
}
