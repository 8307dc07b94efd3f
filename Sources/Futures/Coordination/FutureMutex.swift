/// A lock that has one holder at a time. Requests get the lock in the order in which they were made.
///
/// The code of one callback needs no lock, since a loop runs one callback at a time. Use this lock for work
/// that takes several callbacks.
public final class FutureMutex {
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) { semaphore = FutureSemaphore(1, name: "mutex", on: loop) }

    /// Whether somebody holds the lock.
    public var isLocked: Bool { semaphore.available == 0 }

    /// The number of requests that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Requests the lock. The returned future completes with a permit when this request gets the lock. To
    /// unlock, call ``Permit/release()`` on the permit.
    public func lock(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Takes the lock at once if the lock is free, and returns a permit. Otherwise returns `nil`. To unlock,
    /// call ``Permit/release()`` on the permit.
    public func tryLock() -> Permit? { semaphore.tryAcquire() }

    /// Waits for the lock, runs `body`, and unlocks when the future that `body` returned has completed. The
    /// returned future has the same outcome as that future.
    ///
    /// If the returned future or `token` is cancelled while the request waits for the lock, the request is
    /// withdrawn and `body` never runs.
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
