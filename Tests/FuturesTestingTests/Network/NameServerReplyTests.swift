import Testing
import UVFutures

@testable import FuturesTesting

struct NameServerReplyTests {
    private let world = World(seed: 1)

    /// A query for `name`, which states how large an answer may be with `options`.
    private func query(_ name: String, type: UInt8 = 1, flags: UInt8 = 1, options: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = [0x12, 0x34, flags, 0, 0, 1, 0, 0, 0, 0, 0, options ? 1 : 0]
        bytes += [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, type, 0, 1]
        return bytes + (options ? [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0] : [])
    }

    @Test("a name that there is not has an answer with the authority of its zone", arguments: [false, true])
    func negative(options: Bool) throws {
        var expected: [UInt8] = [0x12, 0x34, 0x81, 0x83, 0, 1, 0, 0, 0, 1, 0, options ? 1 : 0]
        expected += [2, 110, 111, 0, 0, 1, 0, 1]
        // The name, SOA, the class, the time to live, the size, two names.
        expected += [2, 110, 111, 0, 0, 6, 0, 1, 0, 0, 0, 60, 0, 22, 0, 0]
        for number: UInt32 in [1, 3600, 600, 86_400, 60] {
            expected += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        if options { expected += [0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0] }
        #expect(world.names.reply(to: query("no", options: options), byConnection: false) == expected)
    }

    @Test("an answer repeats the question, and has the records with their times to live")
    func positive() throws {
        world.names.timeToLive = .milliseconds(300_999)
        try world.names.add(.address("192.0.2.1"), to: "a")
        #expect(
            world.names.reply(to: query("a"), byConnection: false) == [
                0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1,
                1, 97, 0, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1,
            ])
    }

    @Test("what is longer than a datagram may be is cut off to the question, unless it goes by TCP")
    func sizes() throws {
        for (limit, options) in [(512, false), (1232, true)] {
            for size in [limit, limit + 1] {
                // The header, the question, the record without its data, and the options.
                let count = size - 12 - 7 - 13 - (options ? 11 : 0)
                let strings = Array(repeating: String(repeating: "x", count: 255), count: count / 256)
                let rest = count % 256
                let name = "t\(size)".suffix(1)
                let all = strings + [String(repeating: "x", count: rest - 1)]
                let world = World(seed: 1)
                try world.names.add(.text(all), to: String(name))
                let asked = query(String(name), type: 16, options: options)
                #expect(world.names.reply(to: asked, byConnection: true)?.count == size)
                let reply = try #require(world.names.reply(to: asked, byConnection: false))
                #expect(reply.count == (size == limit ? size : 12 + 7 + (options ? 11 : 0)))
                #expect(reply[2] == (size == limit ? 0x81 : 0x83))
            }
        }
    }

    @Test("what is no query gets no answer")
    func noQuery() throws {
        #expect(world.names.reply(to: query("a", flags: 0x81), byConnection: false) == nil)
        #expect(world.names.reply(to: Array(query("a").dropLast()), byConnection: false) == nil)
        #expect(world.names.reply(to: [], byConnection: false) == nil)
    }

    @Test("a chain of aliases is followed for twenty names")
    func aliases() throws {
        for number in 0..<30 { try world.names.add(.alias("n\(number + 1)"), to: "n\(number)") }
        let reply = try #require(world.names.reply(to: query("n0"), byConnection: true))
        #expect(reply[6...7] == [0, 20])
    }
}
