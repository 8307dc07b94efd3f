internal import Futures

/// The number of callbacks that a virtual loop has run since its clock moved. The clock never moves if callbacks are
/// always ready.
final class BusyInstant {
    /// The number of callbacks that are examined in search of one created by the user, once there are too many
    /// callbacks.
    private static let patience = 4

    private let limit: Int
    private var countBefore: UInt64 = 0
    private var callbacks = 0
    /// The number of callbacks that may still be created before the loop traps. `nil` until there are too many
    /// callbacks.
    private var patience: Int?

    init(limit: Int) {
        Self.check(limit)
        self.limit = limit
    }

    static func check(_ limit: Int) {
        if limit < 1 { Misuse.size(limit, of: "The limit of callbacks in an instant", atLeast: 1) }
    }

    /// Restarts the count at zero. Called when the clock has moved, and when other code or another thread adds work.
    func begin(_ loop: LoopCore) {
        callbacks = 0
        if patience.take() != nil { loop.hideMakers() }
        countBefore = loop.callbackCount
    }

    /// Adds the callbacks of the last turn, or one if there were none. Called between two turns.
    func count(_ loop: LoopCore) {
        callbacks += max(1, Int(loop.callbackCount &- countBefore))
        countBefore = loop.callbackCount
        guard callbacks > limit else { return }
        if patience != nil { giveUp() }
        // In the next turn, `callbackWasMade` finds out where the callbacks are created.
        patience = Self.patience
        loop.revealMakers()
    }

    func callbackWasMade(on loop: LoopCore) {
        guard let left = patience else { return }
        // In an optimized build, the stack may show a wrong place.
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
