import ByteStreams
import FoundationEssentials
import Futures
import Testing

struct RawSpansTests {
    @Test("of a span that is written the system takes what it can, and the rest is copied")
    func writes() {
        withStream { stream, transport, loop in
            transport.room = 2
            do {
                let bytes = Data("abcdef")
                let written = stream.write(bytes.bytes)
                #expect(!written.isCompleted)
            }
            #expect(stream.write([103, 104]).isCompleted == false)
            #expect(transport.sent == Data("ab"))
            transport.finishAllWrites()
            #expect(transport.sent == Data("abcdefgh"))
            transport.room = .max
            #expect(stream.write("äöü").succeeded)
            let bytes = Data([1])
            let one = stream.write(bytes.bytes)
            #expect(one.succeeded)
            #expect(stream.write([UInt8]()).succeeded)
            #expect(transport.sent == Data("abcdefghäöü\u{1}"))
        }
    }
}
