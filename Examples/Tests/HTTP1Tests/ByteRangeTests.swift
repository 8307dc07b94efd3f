import HTTP1
import Testing

struct ByteRangeTests {
    @Test(
        arguments: [
            (nil, ByteRange.everything), ("bytes=0-0", .part(0..<1)), ("bytes=2-4", .part(2..<5)),
            ("bytes=2-", .part(2..<10)),
            ("Bytes=2-99", .part(2..<10)), ("bytes=-3", .part(7..<10)), ("bytes=-99", .part(0..<10)),
            ("bytes=10-", .unsatisfiable), ("bytes=10-12", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=4-2", .everything), ("bytes=", .everything), ("bytes=-", .everything),
            ("bytes=a-b", .everything),
            ("bytes=+1-2", .everything), ("bytes=1-2,4-5", .everything), ("lines=1-2", .everything),
            ("bytes=0-9223372036854775807", .part(0..<10)), ("bytes=99999999999999999999-", .everything),
        ] as [(String?, ByteRange)])
    func `a range is read`(_ field: String?, _ range: ByteRange) {
        #expect(ByteRange(field, of: 10) == range)
    }

    @Test func `nothing has no range`() { #expect(ByteRange("bytes=-1", of: 0) == .unsatisfiable) }
}
