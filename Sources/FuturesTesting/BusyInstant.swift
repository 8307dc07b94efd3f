internal import Futures
internal import Runtime

/// How much a virtual loop has run since its clock moved: one that always has something ready never gets on.
struct BusyInstant {
    /// How many callbacks are looked at for one that this library does not make for itself.
    private static let patience = 4

    private let limit: Int
    private var countBefore: UInt64 = 0
    private var callbacks = 0
    /// How many callbacks may still be made until it traps, once there are too many.
    private var patience: Int?

    init(limit: Int) { self.limit = limit }

    /// The clock has moved, or somebody else has come with work.
    mutating func begin(_ loop: EventLoop) {
        callbacks = 0
        if patience.take() != nil { loop.hideMakers() }
        countBefore = loop.callbackCount
    }

    /// Called between two turns, each of which counts as a callback at least.
    mutating func count(_ loop: EventLoop) {
        callbacks += max(1, Int(loop.callbackCount &- countBefore))
        countBefore = loop.callbackCount
        guard callbacks > limit else { return }
        if patience != nil { trap() }
        // The next turn will show who makes them.
        patience = Self.patience
        loop.revealMakers()
    }

    mutating func callbackWasMade() {
        guard let left = patience else { return }
        // What the optimizer leaves of the stack tells another place.
        #if DEBUG
            let place = try? Backtrace.capture(limit: 24, top: 0).place
        #else
            let place: String? = nil
        #endif
        if place != nil || left == 0 { trap(place) }
        patience = left - 1
    }

    private func trap(_ place: String? = nil) -> Never {
        fatalError(
            "A virtual event loop has run \(limit) callbacks at one instant, and there are more: they never end. "
                + (place.map { "The last one was made at \($0). " } ?? "")
                + "Let it wait for time to pass, or allow for more by EventLoop.virtual(maxCallbacksPerInstant:)."
        )
    }
}

extension Backtrace {
    /// The innermost place that is not in this library: its file, with the folder that it is in, and the line.
    fileprivate var place: String? {
        let file: String = #filePath
        let sources = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(
            separator: "/")
        for frame in symbolicated()?.frames ?? [] {
            guard let location = frame.symbol?.sourceLocation else { continue }
            // Whoever runs the loop does not make its callbacks.
            if location.path.hasSuffix("SlowCallbacks.swift") { return nil }
            guard location.line > 0, !location.path.hasPrefix(sources + "/"), !location.path.hasPrefix("<")
            else {
                continue
            }
            return "\(location.path.split(separator: "/").suffix(2).joined(separator: "/")):\(location.line)"
        }
        return nil
    }
}
