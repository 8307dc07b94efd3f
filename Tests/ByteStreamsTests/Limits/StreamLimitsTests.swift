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
        #expect(limits.closeTimeout == .seconds(5))
        #expect(limits.closeDiscardLimit == 1_048_576 && limits.maxLingering == 1000)
        #expect(limits.writeTimeout == .seconds(30))
        #expect(limits.framingTimeout == .seconds(30) && limits.framingRate == 4096)
        #expect(limits.idleTimeout == nil && limits.readTimeout == nil && limits.handshakeTimeout == nil)
        try limits.validate()
        var least = limits
        (least.readHighWaterMark, least.readLowWaterMark) = (1, 1)
        (least.writeHighWaterMark, least.writeLowWaterMark) = (1, 0)
        try least.validate()
    }

    @Test("limits that make no sense are refused with a text that says what to give")
    func validation() {
        expect("readHighWaterMark must be at least 1 and readLowWaterMark from 0 to that, not 0 and 16384") {
            $0.readHighWaterMark = 0
        }
        expect("readHighWaterMark must be at least 1 and readLowWaterMark from 0 to that, not 0 and 0") {
            ($0.readHighWaterMark, $0.readLowWaterMark) = (0, 0)
        }
        expect("readHighWaterMark must be at least 1 and readLowWaterMark from 0 to that, not 65536 and -1") {
            $0.readLowWaterMark = -1
        }
        expect(
            "writeHighWaterMark must be at least 1 and writeLowWaterMark from 0 to that, not 65536 and 65537"
        ) { $0.writeLowWaterMark = 65_537 }
        expect("a write cap of -5 is negative; give zero or more") { $0.writeCap = -5 }
        expect("a close timeout of -1.0 seconds is negative; give zero or more") {
            $0.closeTimeout = .seconds(-1)
        }
        expect("closeDiscardLimit and maxLingering must be at least 0, not -1 and 1000") {
            $0.closeDiscardLimit = -1
        }
        expect("closeDiscardLimit and maxLingering must be at least 0, not 1048576 and -2") {
            $0.maxLingering = -2
        }
        expect("framingRate must be at least 1, not 0") { $0.framingRate = 0 }
    }

    @Test("a time limit of zero or less is refused, by its name", arguments: [Duration.zero, .seconds(-2)])
    func timeLimits(_ limit: Duration) {
        let advice = "must be positive, not \(limit); give nil for no limit"
        expect("idleTimeout \(advice)") { $0.idleTimeout = limit }
        expect("readTimeout \(advice)") { $0.readTimeout = limit }
        expect("framingTimeout \(advice)") { $0.framingTimeout = limit }
        expect("handshakeTimeout \(advice)") { $0.handshakeTimeout = limit }
        expect("writeTimeout \(advice)") { $0.writeTimeout = limit }
        expect("lifetime \(advice)") { $0.lifetime = limit }
    }

    @Test("a stream that carries another one leaves it all time limits but that of a message")
    func beneath() {
        var limits = StreamLimits()
        limits.writeCap = 7
        for limit in StreamTimeLimit.allCases { limits[limit] = .seconds(limit.rawValue + 1) }
        #expect(limits.lifetime == .seconds(6) && limits.beneath.writeCap == 7)
        #expect(
            StreamTimeLimit.allCases.map { limits.beneath[$0] } == [nil, .seconds(2), nil, nil, nil, nil])
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
