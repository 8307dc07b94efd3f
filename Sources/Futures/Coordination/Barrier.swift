/// Holds those who arrive until there are enough of them, then lets them go together; again and again.
public final class FutureBarrier {
    /// How many go together.
    public let parties: Int
    private let line: WaitLine<Void>

    /// Traps if `parties` is not positive.
    public init(parties: Int, on loop: EventLoop) {
        if parties < 1 { Misuse.size(parties, of: "A barrier", atLeast: 1) }
        self.parties = parties
        line = WaitLine(on: loop.core, name: "barrier")
    }

    /// How many have arrived and wait for the others.
    public var waitingCount: Int { line.count }

    /// Completes when `parties` have arrived. Who cancels it has not arrived.
    /// Fails with ``FutureError/closed(_:)`` if the barrier is released before.
    public func arrive(token: CancellationToken = .none) -> Future<Void> {
        let future = line.wait().until(token)
        if line.count == parties { line.succeed() }
        return future
    }
}
