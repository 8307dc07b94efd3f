import Testing

@testable import HTTP1

struct ByteSetTests {
    private let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    @Test func `the sets have the characters of the RFCs and no others`() {
        expect(.token, letters + "!#$%&'*+-.^_`|~")
        expect(.host, letters + "-._~!$&'()*+,;=%:[]")
        let visible = String(decoding: UInt8(0x21)...UInt8(0x7e), as: UTF8.self)
        expect(.target, visible.filter { $0 != "#" })
        expect(.path, visible.filter { $0 != "#" && $0 != "?" })
        expect(.value, visible + " \t", others: UInt8(128)...UInt8.max)
    }

    @Test func `a byte that no value may have is found wherever it is, and whatever is around it`() {
        for around in [UInt8(ascii: "a"), UInt8(ascii: "\t"), UInt8(ascii: " "), 0x7e, 0x80, 0xff] {
            forEachPlace(around) { bytes in
                bytes.firstIndexOutsideValue(from: 1, to: bytes.count)
                    == bytes.firstIndex(from: 1, to: bytes.count, notIn: .value)
            }
        }
    }

    @Test func `a byte that no name may have is found wherever it is, and whatever is around it`() {
        for around in "aZ-0~".utf8 {
            forEachPlace(around) { bytes in
                bytes.firstIndexOutsideToken(from: 1, to: bytes.count)
                    == bytes.firstIndex(from: 1, to: bytes.count, notIn: .token)
            }
        }
    }

    /// Passes `isRight` every byte at every place of up to 20, between others that are `around`.
    private func forEachPlace(_ around: UInt8, _ isRight: (Span<UInt8>) -> Bool) {
        for (count, index) in (1...20).flatMap({ count in (0..<count).map { (count, $0) } }) {
            for byte in UInt8.min...UInt8.max {
                var bytes = [UInt8](repeating: around, count: count)
                bytes[index] = byte
                let judged = isRight(bytes.span)
                #expect(judged, "\(bytes)")
            }
        }
    }

    private func expect(_ set: ByteSet, _ characters: String, others: ClosedRange<UInt8>? = nil) {
        let expected = Set(characters.utf8).sorted() + (others.map(Array.init) ?? [])
        #expect((UInt8.min...UInt8.max).filter { set.contains($0) } == expected)
    }
}
