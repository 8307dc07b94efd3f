/// A barrier at which callers wait for one another. When ``parties`` callers wait, all their futures complete
/// together, and the next round begins.
public final class FutureBarrier {
    /// The number of calls of ``arrive(token:)`` that the barrier waits for. When that many calls wait, all
    /// their futures complete together.
    public let parties: Int
    private let line: WaitLine<Void>

    /// Creates a barrier that waits for `parties` calls of ``arrive(token:)``. Traps if `parties` is not
    /// positive.
    public init(parties: Int, on loop: EventLoop) {
        if parties < 1 { Misuse.size(parties, of: "A barrier", atLeast: 1) }
        self.parties = parties
        line = WaitLine(on: loop.core, name: "barrier")
    }

    /// The number of calls of ``arrive(token:)`` that wait for more calls.
    public var waitingCount: Int { line.count }

    /// Completes when ``parties`` calls wait, including this call. Cancelling the returned future takes this
    /// call back. Fails with ``FutureError/closed(_:)`` if the barrier is released before that many calls wait.
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
