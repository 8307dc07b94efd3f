/// A semaphore of one: lets one after the other in, in the order in which they ask.
///
/// On one thread, code between two callbacks needs no lock; this one is held across callbacks.
public final class FutureMutex {
    private let semaphore: FutureSemaphore

    public init(on loop: EventLoop) {
        semaphore = FutureSemaphore(1, name: "mutex", on: loop)
    }

    /// Whether somebody holds the lock.
    public var isLocked: Bool { semaphore.available == 0 }

    /// How many wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// A future of the lock, which is unlocked by ``Permit/release()``.
    public func lock(token: CancellationToken = .none) -> Future<Permit> { semaphore.acquire(token: token) }

    /// The lock, if nobody holds it; otherwise `nil`.
    public func tryLock() -> Permit? { semaphore.tryAcquire() }

    /// Runs `body` with the lock, which is unlocked when the future that it returns has completed.
    ///
    /// Cancelling the result before its turn, or `token`, takes it out of the line; `body` is then never run.
    public func withLock<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(1, token: token, body)
    }
}
