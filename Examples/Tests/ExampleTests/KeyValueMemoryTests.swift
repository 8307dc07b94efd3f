import FuturesTesting
import Testing
import UVFutures

@testable import KeyValueServer

/// What a client can make the server hold with a limit of ten million bytes, of which a quarter is for all clients.
struct KeyValueMemoryTests {
    private static let refusal =
        "-OOM more than 2500000 bytes for a client are not allowed (maxmemory-clients); ask for less at a time\r\n"
    private static let full = "-OOM command not allowed when used memory > 'maxmemory'.\r\n"

    private let talk: Talk

    init() throws { talk = try Talk(["--memory-limit", "10000000"]) }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private func bulk(_ words: [String]) -> String {
        "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    }

    private func ask(_ words: String...) throws -> String { try ask(words) }

    private func ask(_ words: [String]) throws -> String {
        try talk.ask(bulk(words), closing: false, within: .seconds(1))
    }

    @Test("keys and values take three quarters at most; what needs no memory goes on")
    func data() throws {
        let value = Self.text(999_000)
        for number in 0..<7 { #expect(try ask("SET", "key\(number)", value) == "+OK\r\n") }
        #expect(try ask("SET", "more", value) == Self.full)
        #expect(try ask("APPEND", "key0", value) == Self.full)
        #expect(try ask("MSET", "more", value, "most", value) == Self.full)
        #expect(try ask("STRLEN", "key6") == ":999000\r\n")
        #expect(try ask("DEL", "key0", "key1") == ":2\r\n")
        #expect(try ask("SET", "more", value) == "+OK\r\n")
        #expect(talk.service.dataMemory <= 7_500_000)
    }

    @Test("short keys count with the memory of their table, and what comes in one command with them")
    func shortKeys() throws {
        func fill(_ name: String, _ numbers: Range<Int>) throws -> String {
            try ask(["MSET"] + numbers.flatMap { ["\(name)\($0)", ""] })
        }
        var number = 0
        while try fill("", number..<number + 500) == "+OK\r\n" {
            number += 500
            guard number == 20_000 else { continue }
            #expect(try fill("more", 0..<30_000) == "+OK\r\n")
            #expect(try fill("most", 0..<30_000) == Self.full)
        }
        #expect((40_000...110_000).contains(number))
        #expect(talk.service.dataMemory <= 7_500_000)
    }

    @Test(
        "an answer that is larger than the clients' quarter is refused before it is made",
        arguments: [
            ["MGET"] + [String](repeating: "key", count: 1000), ["KEYS", "*"], ["SCAN", "0", "COUNT", "100"],
        ])
    func answers(_ words: [String]) throws {
        #expect(try ask("SET", "key", Self.text(1_000_000)) == "+OK\r\n")
        for number in 0..<4 { #expect(try ask("SET", "\(number)" + Self.text(800_000), "") == "+OK\r\n") }
        #expect(try ask(words) == Self.refusal)
        #expect(try ask("MGET", "key", "key").utf8.count == 4 + 2 * (10 + 1_000_002))
    }

    @Test("a value does not grow so large that it cannot be read")
    func growing() throws {
        for _ in 0..<2 { _ = try ask("APPEND", "key", Self.text(1_000_000)) }
        #expect(try ask("APPEND", "key", Self.text(1_000_000)) == Self.refusal)
        #expect(try ask("STRLEN", "key") == ":2000000\r\n")
    }

    @Test("a command that is larger than the quarter is refused while it comes, and its connection ends")
    func largeCommand() throws {
        let answer = try talk.ask("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$200000000\r\n" + Self.text(3_000_000))
        #expect(answer == Self.refusal)
        let words = try talk.connect()
        #expect(
            try talk.ask("*1000000\r\n" + String(repeating: "$0\r\n\r\n", count: 200_000), on: words)
                == Self.refusal)
    }

    @Test(
        "when all together have more under way than the quarter, those with the most are ended, and others not"
    )
    func halves() throws {
        let half = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2000000\r\n"
        let connections = try (0..<5).map { number in
            let connection = try talk.connect()
            connection.write(half + Self.text(600_000 + 10_000 * number))
            return connection
        }
        try talk.world.run(for: .seconds(1))
        #expect(talk.service.clientMemory.used <= 2_500_000)
        #expect(talk.service.clientMemory.evictedCount == 2)
        #expect(connections.count { $0.closed.isCompleted } == 2)
        #expect(try ask("PING") == "+PONG\r\n")
    }

    @Test(
        "a client has as many subscriptions as fit into the quarter, and the rest is refused",
        arguments: ["SUBSCRIBE", "PSUBSCRIBE"])
    func subscriptions(_ command: String) throws {
        let large = [command] + (0..<20_000).map { "channel\($0)" }
        #expect(try ask(large) == Self.refusal)
        var rounds = 0
        while try ask([command] + (0..<100).map { "\(rounds)-\($0)" })
            != Self.refusal
        {
            rounds += 1
        }
        #expect((60...120).contains(rounds))
        #expect((1_500_000...2_500_000).contains(talk.service.clientMemory.used))
        _ = try ask(command == "SUBSCRIBE" ? "UNSUBSCRIBE" : "PUNSUBSCRIBE")
        #expect(talk.service.clientMemory.used < 10_000)
    }

    @Test("the subscriptions of a client that has gone count until they are removed")
    func leaving() throws {
        let many = bulk(["SUBSCRIBE"] + (0..<5000).map { "\($0)" })
        talk.service.clientMemory.leaving = 1_000_000
        #expect(try talk.ask(many, closing: false, within: .seconds(1)) == Self.refusal)
        talk.service.clientMemory.leaving = 0
        let other = try talk.connect()
        #expect(try talk.ask(many, on: other, closing: false, within: .seconds(1)).hasPrefix("*3"))
        other.abort()
        try talk.world.run(for: .seconds(1))
        #expect(talk.service.clientMemory.leaving == 0 && talk.service.clientMemory.used < 10_000)
    }

    @Test("a listener that does not read is ended when too much waits for it")
    func slowListener() throws {
        let listener = try talk.connect()
        #expect(try talk.ask("SUBSCRIBE news\r\n", on: listener, closing: false).hasPrefix("*3"))
        for _ in 0..<20 { #expect(try ask("PUBLISH", "news", Self.text(200_000)).hasPrefix(":")) }
        #expect(talk.service.clientMemory.evictedCount == 1)
        #expect(try ask("PUBLISH", "news", "x") == ":0\r\n")
        #expect(talk.service.clientMemory.used < 10_000)
    }

    @Test("clients that are faster than the disk wait for it", arguments: ["everysec", "always", "no"])
    func slowDisk(_ policy: String) throws {
        let talk = try Talk(["--append-file", "/log", "--sync", policy, "--rewrite-size", "5000000"])
        talk.host.disk.latency = .constant(.milliseconds(50))
        let command = bulk(["SET", "key", Self.text(100_000)])
        let answers = try (0..<8).map { _ in
            let connection = try talk.connect()
            for _ in 0..<40 { connection.write(command) }
            connection.shutdownWrite()
            return connection.readToEnd()
        }
        var most = 0
        while !answers.allSatisfy(\.isCompleted) {
            try talk.world.run(for: .milliseconds(1))
            most = max(most, talk.service.log!.memory)
        }
        for answer in answers { #expect(try talk.world.run(until: answer).count == 40 * 5) }
        #expect((1_000_000...4_000_000).contains(most))
        #expect(talk.service.log!.rewriteCount > 0)
    }
}
