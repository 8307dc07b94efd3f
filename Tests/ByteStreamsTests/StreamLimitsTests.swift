import ByteStreams
import Futures
import Testing

struct StreamLimitsTests {
    @Test("the defaults are those of the documentation")
    func defaults() throws {
        let limits = StreamLimits()
        #expect(limits.readHighWaterMark == 65_536 && limits.readLowWaterMark == 16_384)
        #expect(limits.writeHighWaterMark == 65_536 && limits.writeLowWaterMark == 16_384)
        #expect(limits.writeCap == 16 * 1024 * 1024)
        #expect(limits.closeDeadline == .seconds(5))
        try limits.validate()
    }

    @Test("limits that make no sense are refused with a text that says what to give")
    func validation() {
        expect("read water marks of 16384 and 0 make no sense") { $0.readHighWaterMark = 0 }
        expect("read water marks of -1 and 65536 make no sense") { $0.readLowWaterMark = -1 }
        expect("write water marks of 65537 and 65536 make no sense") { $0.writeLowWaterMark = 65_537 }
        expect("a write cap of -5 is negative; give zero or more") { $0.writeCap = -5 }
        expect("a close deadline of -1.0 seconds is negative; give zero or more") {
            $0.closeDeadline = .seconds(-1)
        }
    }

    private func expect(_ text: String, _ change: (inout StreamLimits) -> Void) {
        var limits = StreamLimits()
        change(&limits)
        do {
            try limits.validate()
            Issue.record("\(limits) were accepted")
        } catch {
            #expect("\(error)".hasPrefix(text))
        }
    }
}
