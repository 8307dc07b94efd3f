package import Futures

/// The limits of streams. Thousands of streams of a loop with the same limits share one object. Streams of
/// several loops do not, since each stream counts a reference to its limits.
package final class SharedLimits {
    package let limits: StreamLimits
    private let nanoseconds: [UInt64?]
    /// Whether a limit that runs from the start of each connection is set.
    let runFromStart: Bool
    /// Kept here because every stream already points to its limits.
    let spareQueue: SpareQueue

    private init(_ limits: StreamLimits, _ spareQueue: SpareQueue) {
        self.limits = limits
        self.spareQueue = spareQueue
        nanoseconds = StreamTimeLimit.all.map { limits[$0]?.wholeNanoseconds }
        runFromStart = StreamTimeLimit.all.contains { $0.runsFromStart && limits[$0] != nil }
    }

    subscript(limit: StreamTimeLimit) -> UInt64? { nanoseconds[limit.rawValue] }

    /// Returns the object of `loop` for `limits`. Makes a new one if `limits` are not among the last few.
    package static func of(_ limits: StreamLimits, on loop: LoopCore) -> SharedLimits {
        loop.streamState.limits.of(limits)
    }

    /// The last few limits. There are several, because servers and clients with different limits make streams
    /// in turn.
    struct Kept {
        static let most = 8
        private var all: [SharedLimits] = []
        private let spareQueue = SpareQueue()

        mutating func of(_ limits: StreamLimits) -> SharedLimits {
            if let shared = all.first(where: { $0.limits == limits }) { return shared }
            let shared = SharedLimits(limits, spareQueue)
            if all.count == Self.most { all.removeFirst() }
            all.append(shared)
            return shared
        }
    }
}
