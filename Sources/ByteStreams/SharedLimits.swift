internal import Futures

/// Limits as streams keep them: thousands have the same ones, and only one copy of them.
final class SharedLimits: Sendable {
    let limits: StreamLimits
    private let nanoseconds: [UInt64?]

    private init(_ limits: StreamLimits) {
        self.limits = limits
        nanoseconds = StreamTimeLimit.all.map { limits[$0]?.wholeNanoseconds }
    }

    subscript(limit: StreamTimeLimit) -> UInt64? { nanoseconds[limit.rawValue] }

    private static let latest = Locked<SharedLimits?>(nil)

    /// The same object as the last time, if the limits are.
    static func of(_ limits: StreamLimits) -> SharedLimits {
        latest.withLock { latest in
            if let latest, latest.limits == limits { return latest }
            let shared = SharedLimits(limits)
            latest = shared
            return shared
        }
    }
}
