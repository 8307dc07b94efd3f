import Foundation
import RESP
import Testing
import UVFutures

@testable import Chat

/// The log in a real Redis.
@Suite(.enabled(if: RedisServer.path != nil, "needs redis-server"))
struct RedisLogTests {
    private func withRedis(_ body: (EventLoop, RedisServer) throws -> Void) throws {
        let loop = try EventLoop()
        let server = try RedisServer(on: loop)
        do { try body(loop, server) } catch {
            try server.end()
            loop.shutdown()
            throw error
        }
        try server.end()
        loop.shutdown()
    }

    private func message(_ number: Int, from sender: String = "s", _ text: String? = nil) -> Message {
        Message(room: "a", sender: sender, number: number, name: "anna", text: text ?? "\(number)")
    }

    @Test("what is appended is read in its order, and a reader waits for more")
    func reading() throws {
        try withRedis { loop, server in
            let redis = try RedisLog(host: "127.0.0.1", port: server.port, on: loop)
            let log = redis.log
            #expect(try loop.run(until: log.read(LogPosition(), false)).isEmpty)
            let sent = [message(1), message(2, "ä \r\n\u{0} *3"), message(3)]
            for message in sent { try loop.run(until: log.append(message)) }
            let presence = Presence(process: "p", names: ["a": ["anna", "bert"], "b": ["carl"]])
            try loop.run(until: log.announce(presence))
            let entries = try loop.run(until: log.read(LogPosition(), false))
            #expect(entries.messages == sent)
            #expect(entries.compactMap(\.presence) == [presence])
            #expect(entries.compactMap(\.id).sorted() == entries.compactMap(\.id))

            var position = LogPosition()
            for entry in entries {
                switch entry {
                case .message(let id, _): position.message = id
                case .presence(let id, _): position.presence = id
                }
            }
            let waiting = log.read(position, true)
            try loop.run(until: log.append(message(4)))
            #expect(try loop.run(until: waiting).messages == [message(4)])
            try loop.run(until: redis.drain(within: .seconds(5)))
        }
    }

    @Test("what others have written to the streams is passed over")
    func strangers() throws {
        try withRedis { loop, server in
            let redis = try RedisLog(host: "127.0.0.1", port: server.port, on: loop)
            for fields in [
                ["nonsense", "1"], ["room", "a", "from", "s", "number", "x", "name", "n", "text", "t"],
            ] {
                let request = Data(command: ["XADD", "chat:messages", "*"] + fields)
                _ = try loop.run(until: redis.writer.send(request))
            }
            _ = try loop.run(
                until: redis.writer.send(Data(command: "XADD", "chat:presence", "*", "process", "p")))
            try loop.run(until: redis.log.append(message(1)))
            let entries = try loop.run(until: redis.log.read(LogPosition(), false))
            #expect(entries.count == 4)
            #expect(entries.messages == [message(1)])
            // A stream that is none is an error, which names it.
            _ = try loop.run(until: redis.writer.send(Data(command: "DEL", "chat:messages")))
            _ = try loop.run(until: redis.writer.send(Data(command: "SET", "chat:messages", "x")))
            let error = #expect(throws: RedisLog.Refused.self) {
                try loop.run(until: redis.log.append(message(2)))
            }
            #expect(error?.description.hasPrefix("Redis complains: WRONGTYPE") == true)
            try loop.run(until: redis.drain(within: .seconds(5)))
        }
    }

    @Test(
        "Redis is killed at any time: what was acknowledged is there, once, also for a process that starts later"
    )
    func kills() throws {
        try withRedis { loop, server in
            var settings = Hall.Settings()
            settings.historyLength = 100_000
            let logs = try (0..<3).map { _ in
                try RedisLog(host: "127.0.0.1", port: server.port, on: loop)
            }
            let halls = logs.map { Hall($0.log, settings, on: loop) }
            for hall in halls[..<2] { try loop.run(until: hall.open()) }
            var acknowledged = [0, 0, 0, 0]
            var isEnding = false
            let senders = acknowledged.indices.map { sender in
                Future<Void>(on: loop) {
                    while !isEnding {
                        let number = acknowledged[sender] + 1
                        let message = self.message(number, from: "s\(sender)", "\(sender) \(number)")
                        // As if its answer had been lost: it is said again, to the other process.
                        if number % 10 == 0 { try await halls[1 - sender % 2].post(message).value }
                        try await halls[sender % 2].post(message).value
                        acknowledged[sender] = number
                    }
                }
            }
            for _ in 0..<3 {
                let before = acknowledged
                let time = Duration.milliseconds(Int.random(in: 50...300))
                try loop.run(until: loop.sleep(for: time))
                try server.kill()
                try server.start()
                while zip(acknowledged, before).contains(where: { $0 <= $1 }) {
                    try loop.run(until: loop.sleep(for: .milliseconds(10)))
                }
            }
            isEnding = true
            _ = try loop.run(until: Future.all(senders))
            // One that starts now, and those that have read on.
            try loop.run(until: halls[2].open())
            try loop.run(until: loop.sleep(for: .milliseconds(200)))
            #expect(acknowledged.min()! > 10)
            for hall in halls {
                let lines = hall.history(of: "a").map(\.line)
                for (sender, count) in acknowledged.enumerated() {
                    let heard = lines.filter { $0.hasPrefix("anna: \(sender) ") }
                    #expect(heard == (1...count).map { "anna: \(sender) \($0)" })
                }
                #expect(hall.counts.dropped > 0)
                hall.close()
            }
            for log in logs { try loop.run(until: log.drain(within: .seconds(5))) }
        }
    }

    @Test("a Redis that is not there is reported, with its reason")
    func absent() throws {
        try withRedis { loop, server in
            try server.kill()
            let redis = try RedisLog(host: "127.0.0.1", port: server.port, on: loop)
            let appended = redis.log.append(message(1))
            try loop.run(until: loop.sleep(for: .milliseconds(200)))
            #expect("\(try #require(redis.writer.lastError))".contains("ECONNREFUSED"))
            // It comes, and the message is sent.
            try server.start()
            try loop.run(until: appended)
            try loop.run(until: redis.drain(within: .seconds(5)))
        }
    }
}

extension [LogEntry] {
    fileprivate var messages: [Message] {
        compactMap { if case .message(_, let message?) = $0 { message } else { nil } }
    }
}

extension LogEntry {
    fileprivate var presence: Presence? {
        if case .presence(_, let presence) = self { presence } else { nil }
    }

    fileprivate var id: EntryID? { if case .message(let id, _) = self { id } else { nil } }
}
