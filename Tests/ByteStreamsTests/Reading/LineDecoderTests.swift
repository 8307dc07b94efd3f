import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct LineDecoderTests {
    /// What a read of each line brings, to the error that ends them.
    private func lines(
        _ bytes: [Data], limit: Int, _ read: @escaping (ByteStream) -> Future<Data?>
    ) -> (lines: [Data], error: StreamError?) {
        var (lines, error): ([Data], StreamError?) = ([], nil)
        withStream { stream, transport, loop in
            func readOn() {
                read(stream).whenComplete {
                    switch $0 {
                    case .success(nil): break
                    case .success(let line?):
                        lines.append(line)
                        readOn()
                    case .failure(let failure): error = failure as? StreamError
                    }
                }
            }
            readOn()
            for part in bytes {
                loop.advance(by: .zero)
                transport.deliver(part)
            }
            transport.deliverEnd()
            loop.advance(by: .zero)
            stream.abort()
        }
        return (lines, error)
    }

    @Test(
        "the lines are those of readLine, whatever they hold, and wherever the bytes are cut",
        arguments: SeededGenerator.seeds(20))
    func asReadLine(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let bytes = Data((0..<random.below(30)).map { _ in [97, 98, 10, 10, 13][random.below(5)] })
            let limit = random.below(6)
            var (parts, rest): ([Data], Data) = ([], bytes)
            while !rest.isEmpty {
                let count = 1 + random.below(rest.count)
                parts.append(Data(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let expected = lines(parts, limit: limit) { $0.readLine(limit: limit) }
            let seen = lines(parts, limit: limit) { $0.readMessage(decodedBy: LineDecoder(limit: limit)) }
            #expect(seen.lines == expected.lines && seen.error == expected.error, "\(Array(bytes)), \(limit)")
        }
    }

    @Test("a carriage return that does not belong to a line is not looked at")
    func returnBefore() {
        withStream { stream, transport, loop in
            let first = stream.read(exactly: 2)
            transport.deliver("a\r\n")
            #expect(first.now == Data("a\r"))
            #expect(stream.readMessage(decodedBy: LineDecoder()).now == Data())
            let line = stream.readLine()
            let block = Data("\r\n")
            stream.transportDidRead(block.bytes.extracting(droppingFirst: 1)) { Data("\n") }
            loop.core.turn {}
            #expect(line.now == Data())
        }
    }

    @Test("the lines of a client that stays connected answer its requests")
    func client() throws {
        let loop = EventLoop.virtual()
        let (near, far) = try MemoryStream.pair(on: loop)
        far.forEachMessage(decodedBy: LineDecoder()) { line, bytes in
            far.write("you said \(Data(copying: bytes.extracting(line)).text)\r\n")
        }
        .ignoreFailure()
        let client = try PipelinedClient(decodedBy: LineDecoder(), on: loop) { loop.succeeded(near) }
        let answers = ["one", "two"].map { client.send(Data("\($0)\n".utf8)) }
        #expect(try loop.run(until: Future.all(answers)).map(\.text) == ["you said one", "you said two"])
        client.close()
        far.abort()
        loop.advance(by: .zero)
        loop.shutdown()
    }

    @Test("a negative limit traps with a sentence")
    func negativeLimit() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = LineDecoder(limit: -1)
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(printed.contains("LineDecoder was given a limit of -1. Give zero or more."))
        #expect(LineDecoder(limit: .max).maximumSize == .max)
    }

    @Test("bytes are text, and what is no UTF-8 becomes a mark")
    func text() {
        #expect(Data("héllo".utf8).text == "héllo")
        #expect(Data([0x61, 0xFF, 0x62]).text == "a\u{FFFD}b")
        #expect(Data("12345".utf8).dropFirst(2).text == "345")
    }
}
