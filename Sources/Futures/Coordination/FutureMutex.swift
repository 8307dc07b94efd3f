/// A lock that has one holder at a time. Requests get the lock in the order in which they were made.
///
/// The code of one callback needs no lock, since a loop runs one callback at a time. This lock is for work
/// that takes several callbacks.
public final class FutureMutex {
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) { semaphore = FutureSemaphore(1, name: "mutex", on: loop) }

    /// Whether a permit for the lock is in use.
    public var isLocked: Bool { semaphore.available == 0 }

    /// The number of requests that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Locks, and completes with a permit when all requests before this request have unlocked. To unlock,
    /// call ``Permit/release()`` on the permit.
    public func lock(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Locks at once if the lock is free, and returns the permit. Otherwise returns `nil`.
    public func tryLock() -> Permit? { semaphore.tryAcquire() }

    /// Locks, runs `body`, and unlocks when the future that `body` returned has completed. The returned
    /// future has the same outcome as that future.
    ///
    /// If the returned future or `token` is cancelled while the request waits for the lock, the request is withdrawn
    /// and `body` never runs.
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
