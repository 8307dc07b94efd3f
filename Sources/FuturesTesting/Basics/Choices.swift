/// A generator of random numbers (SplitMix64). The same initial `state` gives the same numbers.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// Creates a generator whose numbers are independent of those for other purposes of the same seed.
    init(_ seed: UInt64, for purpose: UInt64) {
        var mixer = SplitMix(seed ^ purpose &* 0xD6E8_FEB8_6659_FD93)
        state = mixer.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Returns a number that is at least 0 and less than 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53 as UInt64) }

    /// Returns a number that is more than 0 and at most 1.
    mutating func positiveFraction() -> Double { 1 - fraction() }

    /// Returns a number that is at least 0 and less than `bound`.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// The choices that the seed of a world makes. Each purpose has its own numbers, so that another choice for one purpose
/// changes nothing for the others.
struct Choices {
    /// Decides how bytes are split and joined in transit, which port a socket gets, and so on.
    var network: SplitMix
    /// Decides how long messages take.
    var latency: SplitMix

    init(seed: UInt64) {
        network = SplitMix(seed, for: 2)
        latency = SplitMix(seed, for: 3)
    }
}
