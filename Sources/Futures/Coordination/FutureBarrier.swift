/// A barrier that holds arrivals back until enough of them wait. Then all of them complete together, and the
/// next round begins.
public final class FutureBarrier {
    /// The number of arrivals that complete together.
    public let parties: Int
    private let line: WaitLine<Void>

    /// Creates a barrier for `parties` arrivals. Traps if `parties` is not positive.
    public init(parties: Int, on loop: EventLoop) {
        if parties < 1 { Misuse.size(parties, of: "A barrier", atLeast: 1) }
        self.parties = parties
        line = WaitLine(on: loop.core, name: "barrier")
    }

    /// The number of arrivals that wait for the others.
    public var waitingCount: Int { line.count }

    /// Completes when `parties` arrivals are waiting, counting this one. Cancelling the returned future takes this
    /// arrival back. Fails with ``FutureError/closed(_:)`` if the barrier is released before that many have arrived.
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
