internal import Futures

/// A count of what a virtual loop has run since its clock moved. A loop that always has something ready never gets
/// on.
struct BusyInstant {
    /// The number of callbacks to look at for one that this library does not make for itself.
    private static let patience = 4

    private let limit: Int
    private var countBefore: UInt64 = 0
    private var callbacks = 0
    /// The number of callbacks that may still be made until it traps, once there are too many.
    private var patience: Int?

    init(limit: Int) { self.limit = limit }

    /// Starts counting anew: the clock has moved, or somebody else has come with work.
    mutating func begin(_ loop: LoopCore) {
        callbacks = 0
        if patience.take() != nil { loop.hideMakers() }
        countBefore = loop.callbackCount
    }

    /// Counts a turn as one callback at least. Called between two turns.
    mutating func count(_ loop: LoopCore) {
        callbacks += max(1, Int(loop.callbackCount &- countBefore))
        countBefore = loop.callbackCount
        guard callbacks > limit else { return }
        if patience != nil { giveUp() }
        // The next turn will show who makes them.
        patience = Self.patience
        loop.revealMakers()
    }

    mutating func callbackWasMade(on loop: LoopCore) {
        guard let left = patience else { return }
        // What the optimizer leaves of the stack tells another place.
        #if DEBUG
            let place = Callers(on: loop).place
        #else
            let place: String? = nil
        #endif
        if place != nil || left == 0 { giveUp(place) }
        patience = left - 1
    }

    private func giveUp(_ place: String? = nil) -> Never {
        fatalError(
            "A virtual event loop has run \(limit) callbacks at one instant, and there are more: they never end. "
                + (place.map { "The last one was made at \($0). " } ?? "")
                + "Let it wait for time to pass, or allow for more by EventLoop.virtual(maxCallbacksPerInstant:)."
        )
    }
}
