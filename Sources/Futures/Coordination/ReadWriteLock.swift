/// Lets in many readers at a time, or one writer, in the order in which they ask.
///
/// A reader that comes after a writer that waits, waits too: writers are not starved.
public final class FutureReadWriteLock {
    private static let everybody = Int.max
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) {
        semaphore = FutureSemaphore(Self.everybody, name: "lock", on: loop)
    }

    /// How many readers and writers wait.
    public var waitingCount: Int { semaphore.waitingCount }

    /// A future of the right to read, given back by ``Permit/release()``.
    public func read(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// A future of the right to write, given back by ``Permit/release()``.
    public func write(token: CancellationToken = .none) -> Future<Permit> {
        semaphore.acquire(Self.everybody, token: token)
    }

    /// Runs `body` as a reader, until the future that it returns has completed.
    public func withReading<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(1, token: token, body)
    }

    /// Runs `body` as the only one, until the future that it returns has completed.
    public func withWriting<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(Self.everybody, token: token, body)
    }
}
