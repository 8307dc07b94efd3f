/// A lock that lets in many readers at a time, or one writer, in the order in which they ask.
///
/// A reader that comes after a waiting writer waits too: writers are not starved.
public final class FutureReadWriteLock {
    private static let everybody = Int.max
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) {
        semaphore = FutureSemaphore(Self.everybody, name: "lock", on: loop)
    }

    /// The number of readers and writers that wait.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Completes with the right to read. ``Permit/release()`` gives it back.
    public func read(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// Completes with the right to write. ``Permit/release()`` gives it back.
    public func write(token: CancellationToken = .none) -> Future<Permit> {
        semaphore.acquire(Self.everybody, token: token)
    }

    /// Runs `body` as a reader, until the future that `body` returns has completed.
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

    /// Runs `body` as the only holder, until the future that `body` returns has completed.
    public func withWriting<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(Self.everybody, token: token, body)
    }
}
