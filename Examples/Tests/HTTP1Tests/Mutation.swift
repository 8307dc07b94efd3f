/// Changes `bytes` at one place, or puts a part of `other` there.
func mutate(_ bytes: inout [UInt8], _ other: [UInt8], _ random: inout SplitMix) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where place < bytes.count: bytes.remove(at: place)
    case 2: bytes.insert("\r\n\0 :;,\t0".utf8.randomElement(using: &random)!, at: place)
    case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
    case 4:
        let start = Int.random(in: 0...bytes.count, using: &random)
        bytes.insert(contentsOf: bytes[min(start, place)..<max(start, place)], at: place)
    default: bytes.replaceSubrange(place..., with: other.suffix(other.count / 2))
    }
}

/// Random numbers that are the same again with the same seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
