import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSTransportTests {
    private static let records: [String: [SimulatedNames.Record]] = [
        "a": [.address("192.0.2.1"), .address("2001:db8::1"), .text(["x"])]
    ]

    private static func good(_ reply: NameServerReply) throws -> [UInt8] {
        try reply.filled(records, timeToLive: 60).bytes
    }

    @Test("addresses are found by a query and an answer", arguments: TestNetwork.allCases)
    func addresses(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { [try Self.good($0)] }
                let addresses = try loop.run(until: resolver.resolve("a", port: 7, on: loop))
                #expect(addresses.map(\.description) == ["[2001:db8::1]:7", "192.0.2.1:7"])
                #expect(
                    loop.complaint(of: resolver.resolve("b.", port: 7, on: loop)).hasSuffix(
                        "says that b does not exist"))
            }
        }
    }

    @Test("each query has a port of its own", arguments: TestNetwork.allCases)
    func ports(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { [try $0.filled([:], timeToLive: 60).bytes] }
                for number in 0..<100 { _ = loop.outcome(of: resolver.texts(of: "n\(number)", on: loop)) }
                #expect(server.clients.count == 100)
                let ports = Set(server.clients.map(\.port))
                #expect(ports.count > 80)
                // A virtual loop gives out its ports one after another.
                guard network == .system else { return }
                #expect(
                    zip(server.clients, server.clients.dropFirst()).count { abs($0.port - $1.port) < 3 } < 20)
            }
        }
    }

    @Test("answers with another number, or to another question, are ignored", arguments: TestNetwork.allCases)
    func forged(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { reply in
                    var id = reply
                    id.id ^= 0x8000
                    var question = reply
                    question.question = DNSQuestion(try DNSName("b"), .text)
                    return [try Self.good(id), try Self.good(question), [], [0], try Self.good(reply)]
                }
                #expect(try loop.run(until: resolver.texts(of: "a", on: loop))[0].text == "x")
                #expect(resolver.statistics.ignoredAnswers == 4)
            }
        }
    }

    @Test("an answer from another port never arrives", arguments: TestNetwork.allCases)
    func wrongPort(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let other = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { reply in
                    var evil = reply
                    try evil.add(.text(["evil"]), of: reply.question.name, timeToLive: 60)
                    // It has the right number, and comes before the right answer.
                    other.send(evil.bytes, to: server.clients.last!).ignoreFailure()
                    let answer = try Self.good(reply)
                    let client = server.clients.last!
                    loop.sleep(for: .milliseconds(20)).whenSuccess { server.socket.send(answer, to: client) }
                    return []
                }
                #expect(try loop.run(until: resolver.texts(of: "a", on: loop))[0].text == "x")
                #expect(resolver.statistics.ignoredAnswers == 0)
            }
            try loop.run(until: other.close())
        }
    }

    @Test("pointers in a circle are a malformed answer, and no endless loop", arguments: TestNetwork.allCases)
    func circle(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { reply in
                    var bytes = reply.bytes
                    let end = UInt8(bytes.count - (reply.takesLargeAnswers ? 11 : 0))
                    bytes[7] = 1
                    // A name of one label, and then itself.
                    return [bytes.prefix(Int(end)) + [1, 97, 0xC0, end, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]]
                }
                #expect(
                    loop.complaint(of: resolver.texts(of: "a", on: loop))
                        == "resolve EAI_AGAIN a: \(server.address) sent a malformed answer: "
                        + "a name in it has more than 255 bytes")
            }
        }
    }

    @Test("zero bytes and dots in labels are shown, and end nothing", arguments: TestNetwork.allCases)
    func zeroBytes(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { reply in
                    var bytes = try Self.pointer(reply)
                    let place = bytes.firstRange(of: Array("zero".utf8))!.lowerBound
                    bytes[place] = 0
                    bytes[place + 1] = UInt8(ascii: ".")
                    return [bytes]
                }
                let names = resolver.names(of: try SocketAddress(host: "192.0.2.1", port: 0), on: loop)
                #expect(try loop.run(until: names).map(\.name) == ["\\000\\.ro.example"])
            }
        }
    }

    private static func pointer(_ reply: NameServerReply) throws -> [UInt8] {
        var reply = reply
        try reply.add(.pointer("zero.example"), of: reply.question.name, timeToLive: 60)
        return reply.bytes
    }

    @Test("an answer that is cut at any byte is ignored or refused", arguments: TestNetwork.allCases)
    func cut(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                var size = 0
                var length = Int.max
                server.datagrams = { reply in
                    let whole = try Self.pointer(reply)
                    length = whole.count
                    // The whole answer follows, for those that were ignored.
                    return [Array(whole.prefix(size)), whole]
                }
                let address = try SocketAddress(host: "192.0.2.1", port: 0)
                var refused = 0
                while size < length {
                    let fresh = try DNSResolver(servers: [server.address])
                    switch loop.outcome(of: fresh.names(of: address, on: loop)) {
                    case .success: #expect(fresh.statistics.ignoredAnswers == 1)
                    case .failure(let error):
                        refused += 1
                        #expect("\(error)".contains("sent a malformed answer: "))
                    }
                    size += 1
                }
                // The header and the question have 12 and 28 bytes. What is cut behind them is no other's answer.
                #expect(refused == length - 40)
            }
        }
    }

    @Test(
        "a truncated answer comes by TCP, and so does one that is longer than it may be",
        arguments: TestNetwork.allCases)
    func truncated(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                func long(_ reply: NameServerReply) throws -> [UInt8] {
                    var reply = reply
                    for number in 0..<300 {
                        try reply.add(
                            .text(["\(number)", String(repeating: "x", count: 100)]), of: reply.question.name,
                            timeToLive: 60)
                    }
                    return reply.bytes
                }
                server.stream = { try long($0).framed }
                server.datagrams = { [$0.truncated] }
                #expect(try loop.run(until: resolver.texts(of: "a", on: loop)).count == 300)
                server.datagrams = { [try long($0)] }
                #expect(try loop.run(until: resolver.texts(of: "b", on: loop)).count == 300)
                #expect(resolver.statistics.truncatedAnswers == 2)
            }
        }
    }

    @Test("lies by TCP are errors that name the server", arguments: TestNetwork.allCases)
    func liesByTCP(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                server.datagrams = { [$0.truncated] }
                func complaint() throws -> String {
                    let text = loop.complaint(of: resolver.texts(of: "a", on: loop))
                    let start = "resolve EAI_AGAIN a: \(server.address) "
                    #expect(text.hasPrefix(start))
                    return String(text.dropFirst(start.count))
                }
                let malformed = "sent a malformed answer: "
                for start in [[], [0, 40]] as [[UInt8]] {
                    server.stream = { _ in start }
                    #expect(try complaint() == malformed + "the connection ended before it was complete")
                }
                server.stream = { _ in [0, 0] }
                #expect(try complaint() == malformed + "it does not answer the question")
                server.stream = { reply in
                    var other = reply
                    other.id ^= 1
                    return try Self.good(other).framed
                }
                #expect(try complaint() == malformed + "it does not answer the question")
                server.stream = { $0.truncated.framed }
                #expect(try complaint() == malformed + "it does not answer the question")
                server.stream = { try Self.good($0).dropLast().framed }
                #expect(try complaint() == malformed + "it ends within a record")
                server.stream = { try Self.good($0).framed.dropLast() }
                #expect(try complaint().hasPrefix("could not be asked: "))
            }
        }
    }

    @Test("nobody at the port is known at once", arguments: TestNetwork.allCases)
    func refused(network: TestNetwork) throws {
        try withLoop(network) { loop in
            let gone = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let address = gone.localAddress
            try loop.run(until: gone.close())
            let resolver = try DNSResolver(servers: [address])
            let start = loop.now
            #expect(
                loop.complaint(of: resolver.texts(of: "a", on: loop))
                    == "resolve EAI_AGAIN a: \(address) could not be asked: send ECONNREFUSED "
                    + "\(address): connection refused"
            )
            #expect(start.duration(to: loop.now) < .seconds(4))
        }
    }

    @Test("cancelling, and the end of the loop, close the sockets", arguments: TestNetwork.allCases)
    func ended(network: TestNetwork) throws {
        try withLoop(network) { loop in
            try LyingServer.with(loop) { server, resolver throws in
                let handles = loop.statistics.handles
                let cancelled = resolver.resolve("a", port: 1, on: loop)
                try loop.runUntil { server.clients.count == 2 }
                #expect(loop.statistics.handles == handles + 2)
                #expect(cancelled.cancel())
                try loop.runUntil { loop.statistics.handles == handles }
                #expect(loop.statistics.timers == 0)
            }
        }
        try withLoop(network) { loop in
            let silent = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let resolver = try DNSResolver(servers: [silent.localAddress])
            let pending = resolver.resolve("a", port: 1, on: loop)
            settle(loop, network)
            loop.shutdown()
            #expect(throws: (any Error).self) { try pending.result?.get() }
            #expect(pending.isCompleted)
        }
    }

    private func settle(_ loop: EventLoop, _ network: TestNetwork) {
        _ = loop.outcome(of: loop.sleep(for: .milliseconds(5)))
    }

    @Test("a thousand names are under way without a thread")
    func thousand() async {
        await #expect(processExitsWith: .success) {
            // All have to be under way within the five seconds after which a query is repeated.
            let count = 1000 / slowShare
            let loop = try EventLoop()
            func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            try socket.setReceiveBufferSize(4_000_000)
            let resolver = try DNSResolver(servers: [socket.localAddress], maxConcurrent: count)
            var held: [(NameServerReply, SocketAddress)] = []
            let server = socket.forEachDatagram { bytes, header in
                held.append((NameServerReply(to: Array(Data(copying: bytes)))!, header.source!))
            }
            server.ignoreFailure()
            let before = try threads()
            let futures = (0..<count).map { resolver.texts(of: "n\($0)", on: loop) }
            while held.count < count { try loop.run(until: loop.sleep(for: .milliseconds(1))) }
            try #require(threads() <= before)
            try #require(loop.statistics.handles == count + 1)
            for (reply, client) in held {
                var reply = reply
                try reply.add(.text(["\(reply.question.name)"]), of: reply.question.name, timeToLive: 60)
                socket.send(reply.bytes, to: client)
            }
            for (number, future) in futures.enumerated() {
                try #require(try loop.run(until: future)[0].text == "n\(number)")
            }
            try #require(threads() <= before)
            socket.close()
            loop.shutdown()
        }
    }
}
