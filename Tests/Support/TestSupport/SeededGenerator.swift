public import Foundation

/// Random numbers that can be had again (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64 = seed) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    public mutating func bytes(_ count: Int, below bound: UInt8 = 255) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: 0..<bound, using: &self) })
    }

    /// What the randomised tests start from: `SEED` in the environment, to see a failure again, or a new one.
    public static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: .min ... .max)
        print("the randomised tests can be had again with SEED=\(seed)")
        return seed
    }()

    /// As many seeds that follow from it, and fewer in slow builds.
    public static func seeds(_ count: Int) -> [UInt64] {
        var generator = SeededGenerator()
        return (0..<max(1, count / slowShare)).map { _ in generator.next() }
    }
}
