import Foundation
import FuturesTesting
import RESP
import Testing
import UVFutures

@testable import KeyValueServer

/// Each command, as the answer that the server gives. What is expected is what Redis 7.0 answers.
struct KeyValueCommandsTests {
    /// The lines of a conversation: `> ` is what is sent, everything else what is answered, up to the next one.
    private static let conversations: [String] = [
        // Strings.
        "> GET a|$-1|> SET a 1|+OK|> GET a|$1|1|> STRLEN a|:1|> STRLEN none|:0|> SET a \"\"|+OK|> GET a|$0||> EXISTS a|:1",
        "> SET a 1 NX|+OK|> SET a 2 NX|$-1|> SET a 3 XX|+OK|> SET b 1 XX|$-1|> SET a 4 GET|$1|3|> SET c 1 GET|$-1|> GET c|$1|1",
        "> SET a 1 NX GET|$-1|> SET a 2 NX GET|$1|1|> GET a|$1|1|> SET b 2 XX GET|$-1|> EXISTS b|:0",
        "> SET a 1 NX XX|-ERR syntax error|> SET a 1 EX|-ERR syntax error|> SET a 1 FOO|-ERR syntax error",
        "> SET a 1 EX 10 PX 10|-ERR syntax error|> SET a 1 EX 10 KEEPTTL|-ERR syntax error",
        "> SET a 1 EX 0|-ERR invalid expire time in 'set' command|> SET a 1 PX -1|-ERR invalid expire time in 'set' command",
        "> SET a 1 EX x|-ERR value is not an integer or out of range",
        "> SET a 1 EX 9223372036854775807|-ERR invalid expire time in 'set' command|> EXISTS a|:0",
        "> SET a 1 EX 10|+OK|> TTL a|:10|> SET a 2 KEEPTTL|+OK|> TTL a|:10|> SET a 3|+OK|> TTL a|:-1",
        "> SET a 1 PX 1500|+OK|> PTTL a|:1500|> TTL a|:2|> set a 1 pxat 1|+OK|> GET a|$-1",
        "> SETNX a 1|:1|> SETNX a 2|:0|> GET a|$1|1|> GETSET a 2|$1|1|> GETSET b 2|$-1|> GETDEL a|$1|2|> GETDEL a|$-1",
        "> APPEND a x|:1|> APPEND a yz|:3|> GET a|$3|xyz|> MSET a 1 b 2|+OK|> MGET a none b|*3|$1|1|$-1|$1|2",
        "> MSET a|-ERR wrong number of arguments for 'mset' command|> MSET a 1 b|-ERR wrong number of arguments for 'mset' command",
        // Counters.
        "> INCR n|:1|> INCR n|:2|> DECR n|:1|> INCRBY n 10|:11|> DECRBY n 20|:-9|> GET n|$2|-9|> DECR new|:-1",
        "> SET n 8|+OK|> INCR n|:9|> GET n|$1|9|> INCR n|:10|> GET n|$2|10|> DECR n|:9|> GET n|$1|9|> DECRBY n 10|:-1|> GET n|$2|-1",
        "> SET n -1|+OK|> INCR n|:0|> GET n|$1|0|> SET n 99|+OK|> INCRBY n 0|:99|> GET n|$2|99|> INCRBY n 9901|:10000|> GET n|$5|10000",
        "> SET n x|+OK|> INCR n|-ERR value is not an integer or out of range|> GET n|$1|x",
        "> SET n 9223372036854775807|+OK|> INCR n|-ERR increment or decrement would overflow|> GET n|$19|9223372036854775807",
        "> SET n \" 1\"|+OK|> INCR n|-ERR value is not an integer or out of range",
        "> INCRBY n 1.5|-ERR value is not an integer or out of range|> EXISTS n|:0",
        "> DECRBY n -9223372036854775808|-ERR decrement would overflow|> SET n 5 EX 9|+OK|> INCR n|:6|> TTL n|:9",
        // Keys.
        "> MSET a 1 b 2 c 3|+OK|> DEL a none b|:2|> EXISTS a b c c|:2|> TYPE c|+string|> TYPE a|+none|> DBSIZE|:1",
        "> SET one 1|+OK|> KEYS *|*1|$3|one|> KEYS o?e|*1|$3|one|> KEYS x*|*0|> FLUSHALL|+OK|> DBSIZE|:0|> KEYS *|*0",
        "> SET one 1|+OK|> SCAN 0|*2|$1|0|*1|$3|one|> SCAN 0 MATCH x* COUNT 100|*2|$1|0|*0|> SCAN 0 TYPE list|*2|$1|0|*0",
        "> SCAN x|-ERR invalid cursor|> SCAN 0 COUNT 0|-ERR syntax error|> SCAN 0 COUNT|-ERR syntax error|> SCAN 0 FOO 1|-ERR syntax error",
        "> FLUSHALL SYNC|+OK|> FLUSHDB async|+OK|> FLUSHALL now|-ERR syntax error",
        // Times.
        "> EXPIRE a 10|:0|> SET a 1|+OK|> TTL a|:-1|> TTL none|:-2|> PTTL none|:-2|> EXPIRE a 10|:1|> TTL a|:10|> PERSIST a|:1|> PERSIST a|:0|> TTL a|:-1",
        "> SET a 1|+OK|> PEXPIRE a 2000|:1|> PTTL a|:2000|> EXPIRE a -1|:1|> EXISTS a|:0",
        "> SET a 1|+OK|> EXPIREAT a 1|:1|> GET a|$-1|> SET a 1|+OK|> PEXPIREAT a 99999999999999|:1|> EXISTS a|:1",
        "> SET a 1|+OK|> EXPIRE a 10 XX|:0|> EXPIRE a 10 NX|:1|> EXPIRE a 20 NX|:0|> EXPIRE a 5 GT|:0|> EXPIRE a 20 GT|:1|> EXPIRE a 30 LT|:0|> EXPIRE a 5 LT|:1|> TTL a|:5",
        "> EXPIRE a 1 NX XX|-ERR NX and XX, GT or LT options at the same time are not compatible|> EXPIRE a 1 GT LT|-ERR GT and LT options at the same time are not compatible|> EXPIRE a 1 FOO|-ERR Unsupported option FOO",
        "> EXPIRE a x|-ERR value is not an integer or out of range|> EXPIRE a 9223372036854775807|-ERR invalid expire time in 'expire' command",
        // The server.
        "> PING|+PONG|> PING hi|$2|hi|> PING a b|-ERR wrong number of arguments for 'ping' command|> ECHO hi|$2|hi|> ECHO|-ERR wrong number of arguments for 'echo' command",
        "> SELECT 0|+OK|> SELECT 1|-ERR DB index is out of range|> SELECT x|-ERR value is not an integer or out of range",
        "> HELLO 4|-NOPROTO unsupported protocol version|> HELLO x|-ERR Protocol version is not an integer or out of range",
        "> HELLO 3 SETNAME me|%7|$6|server|$5|redis|$7|version|$5|7.0.0|$5|proto|:3|$2|id|:1|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|> GET a|_|> CLIENT GETNAME|$2|me|> CONFIG GET save|%1|$4|save|$0||> SUBSCRIBE c|>3|$9|subscribe|$1|c|:1|> PING|+PONG|> PUBLISH c hi|>3|$7|message|$1|c|$2|hi|:1|> UNSUBSCRIBE|>3|$11|unsubscribe|$1|c|:0|> UNSUBSCRIBE|>3|$11|unsubscribe|_|:0|> RESET|+RESET|> GET a|$-1|> CLIENT GETNAME|$-1",
        "> HELLO 3 AUTH default x|%7|$6|server|$5|redis|$7|version|$5|7.0.0|$5|proto|:3|$2|id|:1|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|> HELLO 2 AUTH me x|-WRONGPASS invalid username-password pair or user is disabled.|> HELLO 2 SETNAME|-ERR Syntax error in HELLO option 'SETNAME'",
        "> POST / HTTP/1.1|> SET a 1",
        "> GET / HTTP/1.1|-ERR wrong number of arguments for 'get' command|> Host: here|> SET a 1",
        "> CLIENT GETNAME|$-1|> CLIENT SETNAME me|+OK|> CLIENT GETNAME|$2|me|> CLIENT ID|:1|> CLIENT SETNAME \"a b\"|-ERR Client names cannot contain spaces, newlines or special characters.",
        "> CLIENT FOO|-ERR unknown subcommand 'FOO'. Try CLIENT HELP.|> CLIENT ID 1|-ERR wrong number of arguments for 'client|id' command"
            .replacingOccurrences(of: "client|id", with: "client\u{1}id"),
        "> CONFIG GET save|*2|$4|save|$0||> CONFIG GET append*|*4|$11|appendfsync|$8|everysec|$10|appendonly|$2|no|> CONFIG SET a b|-ERR unknown subcommand 'SET'. Try CONFIG HELP.",
        "> COMMAND DOCS|*0|> get|-ERR wrong number of arguments for 'get' command|> GET a b|-ERR wrong number of arguments for 'get' command",
        "> FOO a b|-ERR unknown command 'FOO', with args beginning with: 'a' 'b' |> AVERYLONGNAMEINDEED|-ERR unknown command 'AVERYLONGNAMEINDEED', with args beginning with: ",
        // Channels.
        "> PUBLISH c hi|:0|> SUBSCRIBE c|*3|$9|subscribe|$1|c|:1|> GET a|-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
            .replacingOccurrences(of: "(P|S)", with: "(P\u{1}S)"),
        "> SUBSCRIBE a b|*3|$9|subscribe|$1|a|:1|*3|$9|subscribe|$1|b|:2|> PING|*2|$4|pong|$0||> UNSUBSCRIBE|*3|$11|unsubscribe|$1|a|:1|*3|$11|unsubscribe|$1|b|:0|> PING|+PONG",
        "> UNSUBSCRIBE|*3|$11|unsubscribe|$-1|:0|> PUNSUBSCRIBE x|*3|$12|punsubscribe|$1|x|:0|> PSUBSCRIBE a*|*3|$10|psubscribe|$2|a*|:1|> PUNSUBSCRIBE|*3|$12|punsubscribe|$2|a*|:0",
        "> QUIT|+OK",
    ]

    @Test("each command gives the answer of Redis", arguments: conversations)
    func conversation(_ text: String) throws {
        let lines = text.split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.replacingOccurrences(of: "\u{1}", with: "|") }
        let sent = lines.filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) + "\r\n" }
        let expected = lines.filter { !$0.hasPrefix("> ") }.map { $0 + "\r\n" }
        let talk = try Talk()
        #expect(try talk.ask(sent.joined()) == expected.joined())
    }

    @Test("a client hears what others publish, by channel and by pattern")
    func publish() throws {
        let talk = try Talk()
        let listener = try talk.connect()
        _ = try talk.ask("SUBSCRIBE news\r\nPSUBSCRIBE n*\r\n", on: listener, closing: false)
        #expect(try talk.ask("PUBLISH news hi\r\n") == ":2\r\n")
        #expect(
            try talk.read(listener)
                == "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n"
        )
        listener.close()
        try talk.world.run(for: .seconds(1))
        #expect(try talk.ask("PUBLISH news hi\r\n", on: try talk.connect()) == ":0\r\n")
    }

    @Test(
        "ten thousand patterns in one command, and their end with the connection, hold up nobody",
        .timeLimit(.minutes(1)))
    func manyPatterns() throws {
        let talk = try Talk()
        let listener = try talk.connect()
        let names = (0..<40_000).map { "p\($0).*" }
        listener.forEachChunk { _ in }.ignoreFailure()
        listener.write("PSUBSCRIBE " + names.prefix(5000).joined(separator: " ") + "\r\n")
        for part in stride(from: 5000, to: names.count, by: 5000) {
            listener.write("PSUBSCRIBE " + names[part..<part + 5000].joined(separator: " ") + "\r\n")
        }
        try talk.world.run(for: .seconds(1))
        let heard = try talk.ask("PUBLISH p39999.x hi\r\n", on: talk.connect())
        #expect(heard == ":1\r\n")
        listener.close()
        try talk.world.run(for: .seconds(1))
        #expect(try talk.ask("PUBLISH p39999.x hi\r\n", on: talk.connect()) == ":0\r\n")
    }

    @Test("what has ended is gone, looked at or not")
    func expiry() throws {
        let talk = try Talk()
        #expect(
            try talk.ask("SET a 1 PX 100\r\nSET b 1 PX 5000\r\nSET c 1\r\n", closing: false)
                == "+OK\r\n+OK\r\n+OK\r\n")
        try talk.world.run(for: .milliseconds(150))
        #expect(try talk.ask("GET a\r\n", closing: false) == "$-1\r\n")
        try talk.world.run(for: .seconds(6))
        #expect(talk.service.store.count == 1)
        #expect(talk.service.store.expiredCount == 2)
    }

    @Test(
        "what breaks the protocol is told, and ends the connection",
        arguments: ["*x\r\n", "*1\r\nPING\r\n", "GET 'a\r\n"])
    func broken(_ text: String) throws {
        let talk = try Talk()
        let answer = try talk.ask("PING\r\n" + text + "PING\r\n")
        #expect(answer.hasPrefix("+PONG\r\n-ERR Protocol error: ") && answer.hasSuffix("\r\n"))
        #expect(answer.split(separator: "\r\n").count == 2)
    }

    @Test("the answers of a turn leave with one write")
    func oneWrite() throws {
        let talk = try Talk()
        let connection = try talk.connect()
        connection.write(String(repeating: "PING\r\n", count: 100))
        let chunk = try talk.world.run(until: connection.read())
        #expect(chunk.count == 700)
        connection.close()
    }

    @Test("SCAN meets every key that stays, while the table grows and shrinks")
    func scan() throws {
        let talk = try Talk()
        for number in 0..<500 { _ = try talk.put("stays\(number)") }
        var (cursor, seen, round) = ("0", Set<String>(), 0)
        repeat {
            let lines = try talk.ask("SCAN \(cursor) COUNT 7\r\n", closing: false).split(separator: "\r\n")
                .map(String.init)
            cursor = lines[2]
            seen.formUnion(lines.dropFirst(4).filter { $0.hasPrefix("stays") })
            round += 1
            for number in 0..<50 { _ = try talk.put("comes\(round)-\(number)") }
            if round == 30 {
                for other in 1...30 { for number in 0..<50 { try talk.drop("comes\(other)-\(number)") } }
            }
        } while cursor != "0"
        #expect(seen.count == 500)
    }
}

/// A server in a world, and a client.
struct Talk {
    let world = World(seed: 1)
    let host: SimulatedHost
    let client: SimulatedHost
    let service: KeyValueService
    private let connection: TCPConnection

    init(_ arguments: [String] = []) throws {
        let parsed = try KeyValueServer.parse(["--host", "0.0.0.0", "--port", "7"] + arguments)
        host = try world.addHost("server")
        service = try world.run(until: parsed.start(on: host.loop)).service
        client = try world.addHost("client")
        connection = try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
    }

    func connect() throws -> TCPConnection {
        try world.run(until: TCPConnection.connect(host: "server", port: 7, on: client.loop))
    }

    /// Sends `text`, and returns all that is answered until the end, or until nothing more comes.
    func ask(
        _ text: String, on other: TCPConnection? = nil, closing: Bool = true,
        within time: Duration = .milliseconds(20)
    ) throws -> String {
        let connection = other ?? connection
        connection.write(text)
        guard closing else { return try read(connection, within: time) }
        connection.shutdownWrite()
        let answer = try world.run(until: connection.readToEnd())
        return String(decoding: answer, as: UTF8.self)
    }

    /// Returns what has come within that time.
    func read(_ connection: TCPConnection, within time: Duration = .milliseconds(20)) throws -> String {
        var text = Data()
        let done = Future<Void>(on: client.loop) {
            for try await chunk in connection.chunks { text += chunk }
        }
        try world.run(for: time)
        done.cancel()
        return String(decoding: text, as: UTF8.self)
    }

    func put(_ key: String) throws {
        service.store.setValue(service.store.findOrInsert(key.utf8Span.span.bytes), "1".utf8Span.span.bytes)
    }

    func drop(_ key: String) throws {
        if let slot = service.store.find(key.utf8Span.span.bytes) { service.store.remove(slot) }
    }
}
