import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSDatagramTests {
    @Test("an answer of up to 4,096 bytes is taken from a datagram", arguments: TestNetwork.allCases)
    func longest(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                func good(_ reply: NameServerReply) throws -> [UInt8] {
                    var reply = reply
                    try reply.add(.text(["x"]), of: reply.question.name, timeToLive: 0)
                    return reply.bytes
                }
                server.stream = { try good($0).framed }
                for (size, connections) in [(4096, 0), (4097, 1)] {
                    // Bytes behind the last record are ignored.
                    server.datagrams = { reply in
                        let bytes = try good(reply)
                        return [bytes + [UInt8](repeating: 0, count: size - bytes.count)]
                    }
                    #expect(try loop.run(until: resolver.texts(of: "a", on: loop))[0].text == "x")
                    #expect(resolver.statistics.truncatedAnswers == connections)
                }
            }
        }
    }
}
