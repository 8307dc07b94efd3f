/// A barrier at which several callers wait for one another. When the number of waiting calls of
/// ``arrive(token:)`` reaches ``parties``, the futures of these calls complete together, and the next round
/// begins.
public final class FutureBarrier {
    /// The number of waiting calls of ``arrive(token:)`` at which the futures of these calls complete.
    public let parties: Int
    private let line: WaitLine<Void>

    /// Creates a barrier that waits for `parties` calls of ``arrive(token:)``. Traps if `parties` is not
    /// positive.
    public init(parties: Int, on loop: EventLoop) {
        if parties < 1 { Misuse.size(parties, of: "A barrier's number of parties", atLeast: 1) }
        self.parties = parties
        line = WaitLine(on: loop.core, name: "barrier")
    }

    /// The number of calls of ``arrive(token:)`` that wait in this round.
    public var waitingCount: Int { line.count }

    /// Waits at the barrier. The returned future completes when the number of waiting calls, including this
    /// call, reaches ``parties``. If you cancel the returned future, this call no longer counts. Fails with
    /// ``FutureError/closed(_:)`` if the barrier is released before the number is reached.
    ///
    /// ```swift
    /// let barrier = FutureBarrier(parties: names.count, on: loop)
    /// for name in names {
    ///     fetch(name).flatMap { _ in barrier.arrive() }.whenSuccess { print("\(name): all have come") }
    /// }
    /// ```
    public func arrive(token: CancellationToken = .none) -> Future<Void> {
        let future = line.wait().until(token)
        if line.count == parties { line.succeed() }
        return future
    }
}
