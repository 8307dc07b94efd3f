/// The digest that the handshake of a WebSocket is made of (RFC 3174). It keeps nothing secret there, and must not be used
/// where it would have to.
struct SHA1 {
    private var state: InlineArray<5, UInt32> = [
        0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0,
    ]

    /// Returns the 20 bytes of the digest of `message`.
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += Array(repeating: 0, count: (119 - message.count % 64) % 64)
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: (message.count * 8) >> shift))
        }
        var digest = SHA1()
        for start in stride(from: 0, to: padded.count, by: 64) { digest.add(padded[start..<start + 64]) }
        return (0..<20).map { UInt8(truncatingIfNeeded: digest.state[$0 / 4] >> UInt32(24 - $0 % 4 * 8)) }
    }

    private mutating func add(_ block: ArraySlice<UInt8>) {
        var words: InlineArray<80, UInt32> = .init(repeating: 0)
        for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
        for index in 16..<80 {
            words[index] =
                (words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]).rotatedLeft(1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index / 20 {
                case 0: ((b & c) | (~b & d), 0x5a82_7999)
                case 1: (b ^ c ^ d, 0x6ed9_eba1)
                case 2: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            (a, b, c, d, e) = (
                a.rotatedLeft(5) &+ mixed &+ e &+ constant &+ words[index], a, b.rotatedLeft(30), c, d
            )
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }
}

extension UInt32 {
    fileprivate func rotatedLeft(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
