internal import Futures

/// Limits as streams keep them: thousands of streams with the same limits share one copy.
package final class SharedLimits: Sendable {
    package let limits: StreamLimits
    private let nanoseconds: [UInt64?]
    /// Whether some limit runs from the moment in which a stream is made.
    let runFromStart: Bool

    private init(_ limits: StreamLimits) {
        self.limits = limits
        nanoseconds = StreamTimeLimit.all.map { limits[$0]?.wholeNanoseconds }
        runFromStart = StreamTimeLimit.all.contains { $0.runsFromStart && limits[$0] != nil }
    }

    subscript(limit: StreamTimeLimit) -> UInt64? { nanoseconds[limit.rawValue] }

    private static let kept = Locked(Kept())

    /// Returns the same object as before, if the limits are the same.
    package static func of(_ limits: StreamLimits) -> SharedLimits { kept.withLock { $0.of(limits) } }

    /// The latest few limits: servers and clients of several kinds make streams by turns.
    struct Kept {
        static let most = 8
        private var all: [SharedLimits] = []

        mutating func of(_ limits: StreamLimits) -> SharedLimits {
            if let shared = all.first(where: { $0.limits == limits }) { return shared }
            let shared = SharedLimits(limits)
            if all.count == Self.most { all.removeFirst() }
            all.append(shared)
            return shared
        }
    }
}
