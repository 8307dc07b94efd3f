/// A set of ASCII characters. No other byte is in any set.
struct ByteSet {
    let low: UInt64
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        guard byte < 128 else { return false }
        return (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte & 63)) & 1 == 1
    }

    // Computed: then the compiler puts the numbers into the code.

    /// `tchar` of RFC 9110: the characters of methods and of names of fields.
    static var token: ByteSet { ByteSet(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe) }
    /// What a target may have: everything visible, without the number sign.
    static var target: ByteSet { ByteSet(low: 0xffff_fff6_0000_0000, high: 0x7fff_ffff_ffff_ffff) }
    /// The characters of a host and its port, as RFC 3986 has them.
    static var host: ByteSet { ByteSet(low: 0x2fff_7ff2_0000_0000, high: 0x47ff_fffe_afff_fffe) }
    /// The ASCII characters of values: everything visible, the space and the tab.
    static var value: ByteSet { ByteSet(low: 0xffff_ffff_0000_0200, high: 0x7fff_ffff_ffff_ffff) }
}

/// Whether `byte` may be in the value of a field. Bytes from 128 on may: RFC 9110 calls them `obs-text`.
@inline(__always)
func isValueByte(_ byte: UInt8) -> Bool { byte >= 128 || ByteSet.value.contains(byte) }

@inline(__always)
func isSpaceOrTab(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
