import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import Chat

struct HallTests {
    @Test("what is said in a room is heard there by all, in one order, and nowhere else")
    func rooms() throws {
        let chat = try MemoryChat()
        let members = try (0..<4).map { _ in try chat.connect() }
        for (index, member) in members.enumerated() {
            member.send("/name m\(index)\n/join \(index < 3 ? "one" : "two")")
            _ = member.lines()
        }
        for number in 1...3 { for member in members { member.send("word \(number)") } }
        let heard = members.map { $0.lines().filter { $0.contains(":") } }
        #expect(heard[0].count == 9)
        #expect(heard[0] == heard[1] && heard[1] == heard[2])
        #expect(heard[3] == ["m3: word 1", "m3: word 2", "m3: word 3"])
        members[1].stream.abort()
        _ = members[0].lines()
        members[0].send("/who")
        #expect(members[0].lines() == ["* in one: m0, m2"])
        #expect(chat.hall.memberCount == 3)
    }

    @Test("a member that does not read is cut off, and the others get everything at once")
    func slowMembers() throws {
        var settings = Hall.Settings()
        settings.memberBuffer = 10_000
        let chat = try MemoryChat(settings)
        let (speaker, listener) = (try chat.connect(), try chat.connect())
        let deaf = try chat.connect(isDeaf: true)
        for member in [speaker, listener, deaf] { member.send("/join a") }
        _ = (speaker.lines(), listener.lines())
        var heard = 0
        for number in 1...50 {
            speaker.send("\(number) " + String(repeating: "x", count: 990))
            heard += listener.lines().count
            #expect(heard == number)
        }
        #expect(chat.hall.counts.cutOff == 1)
        #expect(chat.hall.memberCount == 2)
        #expect(speaker.lines().count == 100)
        #expect(chat.hall.counts.delivered < 50 * 2 + 20)
    }

    @Test("a new member gets the last messages, and one that comes again those that it lacks")
    func history() throws {
        var settings = Hall.Settings()
        (settings.historyLength, settings.keptLength) = (10, 10)
        let chat = try MemoryChat(settings)
        let speaker = try chat.connect()
        speaker.send("/join a")
        for number in 1...25 { speaker.send("\(number)") }
        _ = speaker.lines()
        func heard(_ command: String) throws -> [String] {
            let member = try chat.connect()
            member.send(command)
            return Array(member.lines().dropFirst(2)).map {
                $0.replacingOccurrences(of: "guest1: ", with: "")
            }
        }
        #expect(try heard("/join a") == (16...25).map { "\($0)" })
        #expect(try heard("/join a 23-0") == ["24", "25"])
        #expect(try heard("/join a 25-0") == [])
        #expect(try heard("/join a 10-0") == (11...25).map { "\($0)" })
        #expect(try heard("/join a 9-0") == ["* older messages may be missing"] + (11...25).map { "\($0)" })
    }

    @Test("senders and silent rooms are forgotten when the log has gone on for long enough")
    func horizon() throws {
        var settings = Hall.Settings()
        (settings.horizon, settings.pace) = (20, 1000)
        let chat = try MemoryChat(settings)
        let member = try chat.connect()
        for number in 1...100 { member.send("/as sender-\(number)\n/join room\(number)\n/say 1 hi") }
        _ = member.lines()
        #expect(chat.hall.counts.acknowledged == 100)
        #expect((20...26).contains(chat.hall.roomCount))
        #expect((20...26).contains(chat.hall.senderCount))
        // Who has been away for so long hears that it may have missed something.
        member.send("/join room1 1-0")
        #expect(member.lines().contains("* older messages may be missing"))
    }

    @Test("a message that the log does not take is reported, and ends the connection of who repeats messages")
    func failures() throws {
        struct Refused: Error, CustomStringConvertible { let description = "the disk is full" }
        let chat = try MemoryChat { loop in
            ChatLog(
                append: { _ in loop.failed(Refused()) }, announce: { _ in loop.succeeded() },
                read: { _, waits in waits ? loop.makePromise(of: [LogEntry].self).future : loop.succeeded([])
                })
        }
        let (person, program) = (try chat.connect(), try chat.connect())
        person.send("/join a\nhello\nagain")
        #expect(
            person.lines().suffix(2) == [
                "! message 1 may be lost: the disk is full", "! message 2 may be lost: the disk is full",
            ])
        #expect(!person.hasEnded)
        program.send("/as secret-1\n/join a\n/say 1 x\n/say 2 y")
        #expect(program.lines().last == "! message 1 may be lost: the disk is full")
        #expect(program.hasEnded)
    }

    @Test("at its end a hall tells its members, and a message under way is acknowledged first")
    func ending() throws {
        var append: Promise<Void>?
        let chat = try MemoryChat { loop in
            ChatLog(
                append: { _ in
                    append = loop.makePromise()
                    return append!.future
                }, announce: { _ in loop.succeeded() },
                read: { _, waits in waits ? loop.makePromise(of: [LogEntry].self).future : loop.succeeded([])
                })
        }
        let (idle, busy) = (try chat.connect(), try chat.connect())
        busy.send("/join a\nhello\nlost")
        _ = (idle.lines(), busy.lines())
        chat.hall.close()
        #expect(idle.lines() == ["* this server ends; connect again"])
        #expect(idle.hasEnded)
        #expect(busy.lines() == ["* this server ends; connect again"])
        #expect(!busy.hasEnded)
        append?.succeed()
        #expect(busy.lines() == ["ok 1"])
        #expect(busy.hasEnded)
        #expect(chat.hall.memberCount == 0)
    }

    @Test("/who knows the members of other processes, until nothing is heard of them")
    func attendance() throws {
        let loop = EventLoop.virtual()
        let hub = Hub(loop)
        let halls = try (0..<2).map { _ in
            let hall = Hall(hub.log, on: loop)
            try loop.run(until: hall.open())
            return hall
        }
        let ends = try halls.map { hall in
            let (ours, theirs) = try MemoryStream.pair(on: loop)
            hall.serveLines(theirs).whenComplete { _ in theirs.close() }
            return ours
        }
        ends[0].write("/name anna\n/join a\n")
        ends[1].write("/name bert\n/join a\n")
        loop.advance(by: .seconds(1))
        func who() throws -> String {
            ends[0].write("/who\n")
            while true {
                let line = String(
                    decoding: try #require(try loop.run(until: ends[0].readLine())), as: UTF8.self)
                if line.hasPrefix("* in a") { return line }
            }
        }
        #expect(try who() == "* in a: anna, bert")
        loop.advance(by: .seconds(60))
        #expect(try who() == "* in a: anna, bert")
        hub.isDeaf = true
        loop.advance(by: .seconds(14))
        #expect(try who() == "* in a: anna, bert")
        loop.advance(by: .seconds(6))
        #expect(try who() == "* in a: anna")
    }

    /// A log of which each reader gets everything.
    private final class Hub {
        private let loop: EventLoop
        private var entries: [LogEntry] = []
        var isDeaf = false

        init(_ loop: EventLoop) { self.loop = loop }

        var log: ChatLog {
            ChatLog(
                append: { [self] in add(.message(EntryID(UInt64(entries.count) + 1, 0), $0)) },
                announce: { [self] in
                    isDeaf ? loop.succeeded() : add(.presence(EntryID(UInt64(entries.count) + 1, 0), $0))
                },
                read: { [self] position, waits in
                    let found = entries.filter {
                        switch $0 {
                        case .message(let id, _): id > position.message
                        case .presence(let id, _): id > position.presence
                        }
                    }
                    return waits ? loop.sleep(for: .milliseconds(10)).map { found } : loop.succeeded(found)
                })
        }

        private func add(_ entry: LogEntry) -> Future<Void> {
            entries.append(entry)
            return loop.succeeded()
        }
    }
}
