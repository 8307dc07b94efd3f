import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import Chat

/// What a member is told, line by line.
struct MemberTests {
    /// Conversations: `> ` is what is sent, everything else what is answered, up to the next one.
    private static let conversations: [String] = [
        "> hi|! message 1: you are in no room; /join ROOM takes you to one",
        "> /who|! you are in no room; /join ROOM takes you to one|> /leave|! you are in no room",
        "> /join lobby|* you are in lobby as guest1|> hello there|guest1: hello there|ok 1|> again|guest1: again|ok 2",
        "> /join lobby|* you are in lobby as guest1|> hi|guest1: hi|ok 1|> /leave|* you have left lobby|> /join lobby|* you are in lobby as guest1|guest1: hi",
        "> /join lobby|* you are in lobby as guest1|> hi|guest1: hi|ok 1|> /join other|* you are in other as guest1|> /who|* in other: guest1",
        "> /name anna|* you are anna|> /join a|* you are in a as anna|> /who|* in a: anna|> /name Jürgen_1|* you are Jürgen_1|> /who|* in a: Jürgen_1",
        "> /name|! /name wants a name: up to 32 letters, digits, - and _|> /name a b|! /name wants a name: up to 32 letters, digits, - and _",
        "> /join|! /join wants a room: up to 32 letters, digits, - and _|> /join a:b|! /join wants a room: up to 32 letters, digits, - and _",
        "> /join a x|! x is not the number of a message; give one like 1700000000000-0",
        "> /nonsense|! there is no command /nonsense; /help tells which there are",
        "> /join a|* you are in a as guest1|> a\u{1b}[2Jb|! a line with control characters is not passed on|> a\tb|! a line with control characters is not passed on",
        // Programs.
        "> /say 1 x|! /say follows /as; before it, a message needs no command",
        "> /as short|! /as wants a secret of 8 to 64 letters, digits, - and _",
        "> /as secret-1|* your messages are numbered by you|> hi|! after /as a message is sent by /say NUMBER TEXT",
        "> /as secret-1|* your messages are numbered by you|> /join a|* you are in a as guest1|> /say 1 x y|1-0 guest1: x y|ok 1|> /say 1 x y|ok 1|> /say 5 z|3-0 guest1: z|ok 5|> /say 4 late|ok 4",
        "> /as secret-1|* your messages are numbered by you|> /say x y|! /say wants a number from 1 on, and a text|> /say 0 y|! /say wants a number from 1 on, and a text|> /say 1|! /say wants a number from 1 on, and a text|> /say 1 y|! message 1: you are in no room; /join ROOM takes you to one",
        "> /as secret-1|* your messages are numbered by you|> /join a|* you are in a as guest1|> /say 1 x|1-0 guest1: x|ok 1|> /say 2 y|2-0 guest1: y|ok 2|> /join a 1-0|* you are in a as guest1|2-0 guest1: y|> /join a 2-0|* you are in a as guest1",
    ]

    @Test("each line is answered as it should be", arguments: conversations)
    func conversation(_ text: String) throws {
        let chat = try MemoryChat()
        let member = try chat.connect()
        var expected = ["* hello, guest1. /join ROOM takes you to a room, /help tells the rest"]
        for line in text.split(separator: "|").map(String.init) {
            guard line.hasPrefix("> ") else {
                expected.append(line)
                continue
            }
            #expect(member.lines() == expected)
            expected = []
            member.send(String(line.dropFirst(2)))
        }
        #expect(member.lines() == expected)
        #expect(!member.hasEnded)
    }

    @Test("/quit says goodbye and ends the connection, after the lines before it and without those behind it")
    func quit() throws {
        let chat = try MemoryChat()
        let member = try chat.connect()
        member.send("/join a\nhello\n/quit\nnever")
        #expect(member.lines().suffix(3) == ["guest1: hello", "ok 1", "* goodbye"])
        #expect(member.hasEnded)
        #expect(chat.hall.memberCount == 0)
        #expect(chat.hall.counts.acknowledged == 1)
    }

    @Test("a line that is too long, or no UTF-8, is refused")
    func unreadable() throws {
        let chat = try MemoryChat()
        let (first, second) = (try chat.connect(), try chat.connect())
        first.stream.write([0xff, 0xfe, 10])
        #expect(first.lines().last == "! a line that is no UTF-8 is not passed on")
        first.send("/join a")
        first.send(String(repeating: "x", count: 4097))
        #expect(first.lines().last == "! message 1: it has more than 4096 bytes")
        #expect(!first.hasEnded)
        second.send(String(repeating: "x", count: 4353))
        #expect(second.lines().last == "! a line has at most 4352 bytes")
        #expect(second.hasEnded)
    }

    @Test("/help tells each command")
    func help() throws {
        let member = try MemoryChat().connect()
        member.send("/help")
        let help = member.lines().joined(separator: "\n")
        for command in ["/join", "/name", "/who", "/leave", "/quit", "/as", "/say"] {
            #expect(help.contains(command))
        }
    }
}
