/// A lock that has either many readers at a time or one writer. Requests get the lock in the order in which they were
/// made.
///
/// A reader that asks while a writer is waiting goes behind that writer. So readers cannot hold up a writer for ever.
public final class FutureReadWriteLock {
    private static let everybody = Int.max
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) { semaphore = FutureSemaphore(Self.everybody, name: "lock", on: loop) }

    /// The number of readers and writers that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Completes with a permit to read. To give the lock back, call ``Permit/release()`` on the permit.
    public func read(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Completes with a permit to write. To give the lock back, call ``Permit/release()`` on the permit.
    public func write(token: CancellationToken = .none) -> Future<Permit> {
        semaphore.acquire(Self.everybody, token: token)
    }

    /// Runs `body` with the lock as a reader. Gives the lock back when the future that `body` returned has completed.
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

    /// Runs `body` with the lock as the only holder. Gives the lock back when the future that `body` returned has
    /// completed.
    public func withWriting<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(Self.everybody, token: token, body)
    }
}
