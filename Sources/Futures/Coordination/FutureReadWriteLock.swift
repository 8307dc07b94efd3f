/// A lock that has either many readers at a time or one writer. Requests get the lock in the order in which
/// they were made.
///
/// If a writer waits, readers that come later wait until that writer has had the lock. So readers cannot keep
/// a writer waiting for ever.
///
/// A reader that asks again would wait for that writer, and the writer for the reader. So a request that is made while the
/// closure of ``withReading(token:_:)`` runs, before it returns, gets the lock at once. Later in the work, hold a permit of
/// ``read(token:)``, and ask with ``read(within:)``.
public final class FutureReadWriteLock {
    private static let everybody = Int.max
    private let semaphore: FutureSemaphore
    /// The number of closures that run within each other, and hold the lock for reading.
    private var depth = 0

    public init(on loop: EventLoop) { semaphore = FutureSemaphore(Self.everybody, name: "lock", on: loop) }

    /// The number of readers and writers that wait for the lock.
    public var waitingCount: Int { semaphore.waitingCount }

    /// Requests the lock for reading. The returned future completes with a permit when this request gets the
    /// lock. To unlock, call ``Permit/release()`` on the permit.
    public func read(token: CancellationToken = .none) -> Future<Permit> {
        depth > 0 ? loop.succeeded(semaphore.acquirePastLine()) : semaphore.acquire(token: token)
    }

    /// Returns another permit for reading, at once, whoever waits: `permit` keeps writers out as long as it is held.
    /// Traps if `permit` is not a permit for reading of this lock, or was released.
    public func read(within permit: Permit) -> Permit {
        guard permit.isHeld(of: semaphore), permit.count == 1 else {
            trap(
                "read(within:) was given a permit that does not hold this lock for reading. Give one that does."
            )
        }
        return semaphore.acquirePastLine()
    }

    private var loop: EventLoop { semaphore.loop }

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
        read(token: token).whileHeld(token) { [self] in
            depth += 1
            defer { depth -= 1 }
            return try body()
        }
    }

    /// Waits for the lock for writing, runs `body`, and unlocks when the future that `body` returned has
    /// completed. The returned future has the same outcome as that future.
    public func withWriting<Value>(
        token: CancellationToken = .none, _ body: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        semaphore.with(Self.everybody, token: token, body)
    }
}
