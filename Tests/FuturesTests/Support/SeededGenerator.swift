import Foundation

/// Random numbers that can be had again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// From the seed in the environment, to see a failure again, or from a new one, which is printed.
    static func fresh() -> SeededGenerator { SeededGenerator(seed: seed) }

    static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["FUTURES_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("futures: FUTURES_SEED=\(seed)")
        return seed
    }()
}
