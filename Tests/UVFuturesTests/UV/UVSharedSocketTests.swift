import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// A standard stream over a socket, which stays as others have it. Each in a process of its own.
struct UVSharedSocketTests {
    /// Puts one end of a connection in the place of standard output, and calls `body` with the other one.
    private static func withOutput(_ body: (EventLoop, CInt) throws -> Void) throws {
        var ends: [CInt] = [0, 0]
        precondition(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let original = dup(1)
        dup2(ends[0], 1)
        close(ends[0])
        defer { dup2(original, 1) }
        try withLoop { loop in try body(loop, ends[1]) }
    }

    private static func isQuiet(_ loop: EventLoop) throws -> Bool {
        let before = loop.statistics.turns
        try loop.run(for: .milliseconds(20))
        return loop.statistics.turns - before < 20
    }

    @Test("many pieces arrive in order, also where others have filled the socket")
    func pieces() async {
        await #expect(processExitsWith: .success) {
            try Self.withOutput { loop, there in
                let filler = [UInt8](repeating: 0, count: 4096)
                while unsafe send(1, filler, filler.count, CInt(MSG_DONTWAIT)) > 0 {}
                let output = try loop.standardOutput()
                let pieces = (1...50).map { Data(repeating: UInt8($0), count: $0 % 7 == 0 ? 100_000 : $0) }
                output.write(pieces[0]).ignoreFailure()
                output.write(Array(pieces[1...])).ignoreFailure()
                let ended = output.shutdownWrite()
                let reader = try DescriptorStream(adopting: there, on: loop)
                let all = try loop.run(until: reader.readToEnd(limit: 10_000_000))
                let expected = pieces.reduce(Data(), +)
                #expect(all.suffix(expected.count) == expected && all[all.count - expected.count - 1] == 0)
                try loop.run(until: ended)
                let closes = [output.close(), reader.close()]
                for close in closes { try loop.run(until: close) }
            }
        }
    }

    @Test("pieces that the socket takes at once arrive whole, the empty ones among them")
    func atOnce() async {
        await #expect(processExitsWith: .success) {
            try Self.withOutput { loop, there in
                let output = try loop.standardOutput()
                try loop.run(until: output.write([Data("a".utf8), Data(), Data("bc".utf8), Data("d".utf8)]))
                try loop.run(until: output.write([Data(), Data("e".utf8)]))
                var bytes = [UInt8](repeating: 0, count: 10)
                #expect(unsafe recv(there, &bytes, 10, CInt(MSG_DONTWAIT)) == 5)
                #expect(Array(bytes.prefix(5)) == Array("abcde".utf8))
                try loop.run(until: output.close())
                close(there)
            }
        }
    }

    @Test("nothing is read that nobody asks for")
    func unread() async {
        await #expect(processExitsWith: .success) {
            try Self.withOutput { loop, there in
                let output = try loop.standardOutput()
                // More than the socket takes, so that the stream waits until it is writable.
                let written = output.write(Data(count: 1_000_000))
                #expect(unsafe write(there, "xy", 2) == 2)
                let reader = try DescriptorStream(adopting: there, on: loop)
                #expect(try loop.run(until: reader.read(exactly: 1_000_000))?.count == 1_000_000)
                try loop.run(until: written)
                var byte: UInt8 = 0
                #expect(unsafe recv(1, &byte, 1, CInt(MSG_DONTWAIT | MSG_PEEK)) == 1)
                #expect(try Self.isQuiet(loop))
                // A byte at a time is read, too.
                #expect(try loop.run(until: output.read()) == Data("xy".utf8))
                reader.write("z")
                #expect(try loop.run(until: output.read()) == Data("z".utf8))
                let closes = [output.close(), reader.close()]
                for close in closes { try loop.run(until: close) }
            }
        }
    }

    @Test("a reader that has enough is not read for, and its loop does not wait")
    func backPressure() async {
        await #expect(processExitsWith: .success) {
            var ends: [CInt] = [0, 0]
            precondition(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
            dup2(ends[0], 0)
            let there = ends[1]
            var limits = StreamLimits()
            (limits.readHighWaterMark, limits.readLowWaterMark) = (1, 0)
            let block = [UInt8](repeating: 7, count: 100)
            try withLoop { loop in
                let input = try loop.standardInput(limits: limits)
                let read = input.read()
                for _ in 0..<3 {
                    #expect(unsafe write(there, block, 100) == 100)
                    try loop.run(for: .milliseconds(1))
                }
                #expect(try !loop.run(until: read).isEmpty)
                try loop.run(for: .milliseconds(1))
                while unsafe send(there, block, 100, CInt(MSG_DONTWAIT)) > 0 {}
                // What the stream does not take stays in the socket.
                #expect(try Self.isQuiet(loop))
                try loop.run()
                #expect(unsafe send(there, block, 100, CInt(MSG_DONTWAIT)) < 0)
                try loop.run(until: input.close())
            }
            close(there)
        }
    }

    @Test("a peer that goes without reading is told as a reset")
    func reset() async {
        await #expect(processExitsWith: .success) {
            try Self.withOutput { loop, there in
                let output = try loop.standardOutput()
                try loop.run(until: output.write("unread"))
                let read = output.read()
                try loop.run(for: .milliseconds(1))
                close(there)
                #expect(loop.failure(of: read) as? SystemError == SystemError(.connectionReset, "read"))
                _ = loop.outcome(of: output.closed)
                try loop.run(until: loop.submit {})
            }
        }
    }
}
