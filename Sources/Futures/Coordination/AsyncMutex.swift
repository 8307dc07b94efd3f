/// A lock that lets one holder in at a time, in the order in which they ask.
///
/// On one thread, code between two callbacks needs no lock. This one is held across callbacks.
public final class FutureMutex {
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) {
        semaphore = FutureSemaphore(1, name: "mutex", on: loop)
    }

    /// Whether somebody holds the lock.
    public var isLocked: Bool { semaphore.available == 0 }

    /// The number of requests that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Completes with the lock when it is this request's turn. ``Permit/release()`` unlocks it.
    public func lock(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Takes the lock if nobody holds it. Otherwise returns `nil`.
    public func tryLock() -> Permit? { semaphore.tryAcquire() }

    /// Runs `body` with the lock, and unlocks it when the future that `body` returns has completed.
    ///
    /// Cancelling the result before its turn, or `token`, takes it out of the line, and `body` never runs.
    ///
    /// ```swift
    /// let mutex = FutureMutex(on: loop)
    /// let saved = mutex.withLock { fetch("total").flatMap { save(hash($0)) } }
    /// ```
    public func withLock<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(1, token: token, body)
    }
}
