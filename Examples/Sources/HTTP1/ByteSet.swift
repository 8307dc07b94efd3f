/// A set of bytes.
struct ByteSet {
    private let flag: UInt8

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool { Self.flags[Int(byte)] & flag != 0 }

    // Computed: then the compiler puts the numbers into the code.

    /// `tchar` of RFC 9110: the characters of methods and of names of fields.
    static var token: ByteSet { ByteSet(flag: 1) }
    /// What a target may have: every visible ASCII character, without the number sign.
    static var target: ByteSet { ByteSet(flag: 2) }
    /// What the path of a target may have: what a target may, without the question mark, which ends it.
    static var path: ByteSet { ByteSet(flag: 16) }
    /// The characters of a host and its port, as RFC 3986 has them.
    static var host: ByteSet { ByteSet(flag: 4) }
    /// What a value of a field may have: every visible ASCII character, the space, the tab, and bytes from 128 on, which
    /// RFC 9110 calls `obs-text`.
    static var value: ByteSet { ByteSet(flag: 8) }

    /// The sum of the flags of all sets that have a byte, for each byte.
    private static let flags: InlineArray<256, UInt8> = [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        8, 31, 26, 9, 31, 31, 31, 31, 30, 30, 31, 31, 30, 31, 31, 26,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 30, 30, 26, 30, 26, 10,
        26, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 30, 26, 30, 27, 31,
        27, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 26, 27, 26, 31, 0,
        8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
        8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
        8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
        8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
    ]
}

@inline(__always)
func isSpaceOrTab(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
