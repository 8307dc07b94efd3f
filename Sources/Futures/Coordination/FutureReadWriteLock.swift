/// A lock that has either many readers at a time or one writer. Requests get the lock in the order in which
/// they were made.
///
/// If a writer waits, readers that come later wait until that writer has had the lock. So readers cannot keep
/// a writer waiting for ever.
public final class FutureReadWriteLock {
    private static let everybody = Int.max
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) { semaphore = FutureSemaphore(Self.everybody, name: "lock", on: loop) }

    /// The number of readers and writers that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Requests the lock for reading. The returned future completes with a permit when this request gets the
    /// lock. To unlock, call ``Permit/release()`` on the permit.
    public func read(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Requests the lock for writing. The returned future completes with a permit when this request gets the
    /// lock. To unlock, call ``Permit/release()`` on the permit.
    public func write(token: CancellationToken = .none) -> Future<Permit> {
        semaphore.acquire(Self.everybody, token: token)
    }

    /// Waits for the lock for reading, runs `body`, and unlocks when the future that `body` returned has
    /// completed. The returned future has the same outcome as that future.
    ///
    /// ```swift
    /// let lock = FutureReadWriteLock(on: loop)
    /// let total = lock.withReading { fetch("total") }
    /// let saved = lock.withWriting { save(1) }
    /// ```
    public func withReading<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(1, token: token, body)
    }

    /// Waits for the lock for writing, runs `body`, and unlocks when the future that `body` returned has
    /// completed. The returned future has the same outcome as that future.
    public func withWriting<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(Self.everybody, token: token, body)
    }
}
