import FoundationEssentials

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

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func bytes(_ count: Int, below bound: UInt8 = 255) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: 0..<bound, using: &self) })
    }

    /// What the randomised tests start from: new numbers, or the one in the environment, to see a failure again.
    static let seeds: [UInt64] = {
        let given = ProcessInfo.processInfo.environment["BYTE_STREAMS_SEED"].flatMap { UInt64($0) }
        let seeds = given.map { [$0] } ?? (0..<10).map { _ in UInt64.random(in: .min ... .max) }
        print("byte streams: BYTE_STREAMS_SEED is one of \(seeds)")
        return seeds
    }()
}
