import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import Chat

/// What one member can make of few bytes.
struct PaceTests {
    /// A hall that looks at ten lines a second, with a room of which 20 messages are told to whoever joins.
    private static func chat() throws -> MemoryChat {
        var settings = Hall.Settings()
        (settings.pace, settings.historyLength) = (10, 20)
        let chat = try MemoryChat(settings)
        let speaker = try chat.connect()
        speaker.send("/join full" + String(repeating: "\nwords", count: 30))
        #expect(speaker.lines().last == "ok 30")
        return chat
    }

    @Test(
        "a hundred lines of a member are looked at at once, and then ten a second",
        arguments: [
            "/who", "/leave", "/name anna", "/help", "/as secret-1", "/nonsense", "/say 1 x", "/join", "x",
        ])
    func lines(_ line: String) throws {
        let chat = try Self.chat()
        let (once, member) = (try chat.connect(), try chat.connect())
        for member in [once, member] {
            member.send("/join empty")
            _ = member.lines()
        }
        once.send(line)
        let answer = once.lines().count
        _ = member.lines()
        member.send(String(repeating: line + "\n", count: 1000))
        #expect((99 * answer...100 * answer).contains(member.lines().count))
        chat.loop.advance(by: .seconds(10))
        #expect((99 * answer...101 * answer).contains(member.lines().count))
    }

    @Test("a line of a room's history counts as a line of the member that asks for it")
    func joins() throws {
        let chat = try Self.chat()
        let member = try chat.connect()
        member.send(String(repeating: "/join full\n", count: 1000))
        // Of 100, each takes 21 and the last one what is left.
        #expect(member.lines().count { $0.hasSuffix(": words") } == 5 * 20)
        chat.loop.advance(by: .seconds(21))
        #expect(member.lines().count { $0.hasSuffix(": words") } == 10 * 20)
    }

    @Test("a thousand members are told to who asks for them at the price of twenty lines")
    func attendance() throws {
        let chat = try Self.chat()
        let members = try (0..<1000).map { _ in try chat.connect() }
        for member in members { member.send("/join crowd") }
        _ = members[0].lines()
        members[0].send(String(repeating: "/who\n", count: 100))
        #expect(members[0].lines().count == 5)
    }

    @Test("who waits for its pace is ended with the hall, and so is its handler")
    func ending() throws {
        let chat = try Self.chat()
        let member = try chat.connect()
        member.send(String(repeating: "/help\n", count: 1000))
        _ = member.lines()
        chat.hall.close()
        #expect(member.lines() == ["* this server ends; connect again"])
        #expect(member.hasEnded)
        #expect(chat.hall.memberCount == 0)
    }

    @Test("who reads gets a history that is larger than its buffer, and then what was said meanwhile")
    func largeHistories() throws {
        var settings = Hall.Settings()
        settings.memberBuffer = 70_000
        let chat = try MemoryChat(settings)
        let (speaker, listener) = (try chat.connect(), try chat.connect())
        speaker.send("/join a")
        for number in 1...100 { speaker.send("\(number) " + String(repeating: "x", count: 4000)) }
        _ = speaker.lines()
        listener.send("/join a")
        speaker.send("101")
        let numbers = listener.lines().dropFirst(2).map { $0.split(separator: " ")[1] }
        #expect(numbers == (numbers.count == 101 ? 1...101 : 2...101).map { "\($0)" })
        #expect(chat.hall.counts.cutOff == 0)
    }

    @Test("who reads so slowly that its room forgets what it has not got is cut off, and hears no hole")
    func forgottenHistories() throws {
        var settings = Hall.Settings()
        (settings.pace, settings.keptLength) = (1000, 100)
        let chat = try MemoryChat(settings)
        let speaker = try chat.connect()
        let slow = try chat.connect(isDeaf: true)
        func speak(_ numbers: ClosedRange<Int>) {
            for number in numbers { speaker.send("\(number) " + String(repeating: "x", count: 1000)) }
            _ = speaker.lines()
        }
        speaker.send("/join a")
        speak(1...100)
        slow.send("/join a")
        speak(101...500)
        var heard: [String] = []
        let read = Future<Void>(on: chat.loop) {
            for try await line in slow.stream.lines() where line.starts(with: Data("guest1: ".utf8)) {
                heard.append(String(decoding: line.dropFirst(8).prefix { $0 != 32 }, as: UTF8.self))
            }
        }
        .ignoreFailure()
        chat.loop.advance(by: .seconds(1))
        #expect(read.isCompleted)
        #expect(heard == (1...heard.count).map { "\($0)" })
        #expect(chat.hall.counts.cutOff == 1)
    }
}
