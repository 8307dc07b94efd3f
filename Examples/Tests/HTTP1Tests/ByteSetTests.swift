import Testing

@testable import HTTP1

struct ByteSetTests {
    private let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    @Test func `the sets have the characters of the RFCs and no others`() {
        expect(.token, letters + "!#$%&'*+-.^_`|~")
        expect(.host, letters + "-._~!$&'()*+,;=%:[]")
        let visible = String(decoding: UInt8(0x21)...UInt8(0x7e), as: UTF8.self)
        expect(.target, visible.filter { $0 != "#" })
        expect(.value, visible + " \t", others: UInt8(128)...UInt8.max)
    }

    private func expect(_ set: ByteSet, _ characters: String, others: ClosedRange<UInt8>? = nil) {
        let expected = Set(characters.utf8).sorted() + (others.map(Array.init) ?? [])
        #expect((UInt8.min...UInt8.max).filter { set.contains($0) } == expected)
    }
}
