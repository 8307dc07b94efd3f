import ByteStreams
import CHeap
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct GatheringTests {
    private func withGathering(_ body: (ByteStream, ScriptedTransport, EventLoop) throws -> Void) rethrows {
        try withStream { stream, transport, loop in
            stream.gathersWrites = true
            try body(stream, transport, loop)
        }
    }

    @Test("what is written in a turn leaves with one write at its end")
    func together() {
        withGathering { stream, transport, loop in
            var writes: [Future<Void>] = []
            var left: Future<Void>?
            loop.later {
                writes = [stream.write("a"), stream.write(Data("b")), stream.write([Data("c"), Data("d")])]
                loop.later { writes.append(stream.write([UInt8(ascii: "e")])) }
                left = stream.write("")
                #expect(transport.sent.isEmpty && left?.isCompleted == false)
                #expect(stream.bufferedBytes == 4)
            }
            loop.advance(by: .zero)
            #expect(transport.sent == Data("abcde"))
            #expect(transport.writes == 1)
            let completed = writes.filter(\.succeeded).count
            #expect(completed == 4 && left?.succeeded == true)
            #expect(stream.bufferedBytes == 0 && stream.bytesSent == 5)
        }
    }

    @Test("the answers to all messages of a read leave with one write")
    func answers() {
        withGathering { stream, transport, loop in
            let done = stream.forEachMessage(decodedBy: SemicolonDecoder()) { _, bytes in stream.write(bytes)
            }
            loop.advance(by: .zero)
            for text in ["a;b;c;", "d;", "e;f", ";"] { transport.deliver(text) }
            #expect(transport.sent == Data("a;b;c;d;e;f;"))
            #expect(transport.writes == 4)
            done.cancel()
        }
    }

    @Test("outside of a turn, there will be one")
    func outside() {
        withGathering { stream, transport, loop in
            let write = stream.write("a")
            #expect(write.succeeded && transport.sent.isEmpty)
            loop.advance(by: .zero)
            #expect(transport.sent == Data("a"))
        }
    }

    @Test("what the system does not take is queued, and later writes come behind it", arguments: 0...4)
    func queued(_ room: Int) {
        withGathering { stream, transport, loop in
            transport.room = room
            let first = [stream.write("ab"), stream.write("cd"), stream.write("")]
            #expect(first[0].succeeded && first[1].succeeded && !first[2].isCompleted)
            loop.advance(by: .zero)
            #expect(first[2].isCompleted == (room == 4))
            #expect(stream.bufferedBytes == 4 - room)
            let second = stream.write("ef")
            #expect(second.isCompleted == (room == 4))
            loop.advance(by: .zero)
            transport.finishAllWrites()
            let all = first + [second]
            #expect(all.filter(\.succeeded).count == 4)
            #expect(transport.sent == Data("abcdef"))
        }
    }

    @Test("large buffers are not copied, and keep their place")
    func large() {
        withGathering { stream, transport, loop in
            let large = Data(repeating: 7, count: 20_000)
            for data in [Data("a"), large, Data("b"), large, large, Data("c")] { stream.write(data) }
            stream.write([Data("d"), large])
            loop.advance(by: .zero)
            let expected = [Data("a"), large, Data("b"), large, large, Data("cd"), large]
            #expect(transport.sent == expected.reduce(Data(), +))
            #expect(transport.writes == 1)
            #expect(transport.parts == expected.map(\.count))
            for size in [16_384, 16_385] {
                for _ in 0..<2 { stream.write([Data(count: size)]) }
                loop.advance(by: .zero)
                #expect(transport.parts == (size == 16_384 ? [32_768] : [size, size]))
            }
        }
    }

    @Test("at 256 KiB what has been gathered leaves at once", arguments: [1024, 32_768])
    func full(_ size: Int) {
        withGathering { stream, transport, loop in
            let part = Data(repeating: 7, count: size)
            for _ in 1..<262_144 / size { stream.write(part) }
            #expect(transport.sent.isEmpty)
            #expect(stream.write(part).succeeded)
            #expect(transport.sent.count == 262_144)
            stream.write("x")
            #expect(transport.writes == 1)
            loop.advance(by: .zero)
            #expect(transport.writes == 2)
        }
    }

    enum Verb: CaseIterable {
        case bytes, data, buffers

        func write(_ count: Int, to stream: ByteStream) -> Future<Void> {
            switch self {
            case .bytes: stream.write([UInt8](repeating: 0, count: count))
            case .data: stream.write(Data(count: count))
            case .buffers: stream.write([Data(count: count / 2), Data(count: count - count / 2)])
            }
        }
    }

    private var small: StreamLimits {
        var limits = StreamLimits()
        limits.writeCap = 1000
        (limits.writeHighWaterMark, limits.writeLowWaterMark) = (500, 100)
        return limits
    }

    @Test(
        "a writer that waits for its writes never meets the write cap, however small",
        arguments: Verb.allCases,
        [0, 900, 2000])
    func writeCap(_ verb: Verb, _ room: Int) {
        withStream(limits: small) { stream, transport, loop in
            stream.gathersWrites = true
            transport.room = room
            let writes = (0..<3).map { _ in verb.write(400, to: stream) }
            #expect(transport.writes == 1)
            #expect(writes.map(\.succeeded) == [true, true, room >= 1200])
            #expect(stream.bufferedBytes == max(0, 1200 - room))
            transport.finishAllWrites()
            loop.advance(by: .zero)
            #expect(writes[2].succeeded && transport.sent.count == 1200)
        }
    }

    @Test(
        "the write that fills what is gathered fails with the connection, and is not reported if nobody looks",
        arguments: Verb.allCases, [false, true])
    func fullAndBroken(_ verb: Verb, atOnce: Bool) {
        withStream(limits: small) { stream, transport, loop in
            stream.gathersWrites = true
            transport.room = 0
            if atOnce { transport.writeError = Broken() }
            let write = verb.write(1200, to: stream)
            if !atOnce { transport.fail() }
            loop.advance(by: .zero)
            #expect(write.isCompleted && !write.succeeded)
        }
    }

    @Test("the streams of a loop gather in one memory by turns, and each in its own at the same time")
    func memory() {
        let loop = EventLoop.virtual()
        do {
            let streams = (0..<2).map { _ in makeStream(on: loop) }
            for (stream, _) in streams { stream.gathersWrites = true }
            for round in 0..<3 {
                for (index, (stream, _)) in streams.enumerated() where round < 2 || index == 0 {
                    stream.write("\(round)\(index) ")
                }
                loop.advance(by: .zero)
            }
            #expect(streams.map(\.transport.sent) == [Data("00 10 20 "), Data("01 11 ")])
            for (stream, transport) in streams {
                stream.abort()
                transport.finishClose()
            }
        }
        loop.advance(by: .zero)
        expectNothingAlive(on: loop)
    }

    @Test("in turns of all sizes the bytes of that turn leave, and no others")
    func sizes() {
        var random = SeededGenerator()
        withGathering { stream, transport, loop in
            var expected = Data()
            for turn in 0..<400 {
                for _ in 0...random.below(4) {
                    let size = random.below(10) == 0 ? 20_000 : random.below(1 << random.below(10))
                    let bytes = random.bytes(size)
                    let all = random.below(2) == 0 ? [bytes] : [bytes, Data("-")]
                    if all.count == 1 { stream.write(bytes) } else { stream.write(all) }
                    for part in all { expected += part }
                }
                if turn % 7 == 0 { transport.room = random.below(100) }
                loop.advance(by: .zero)
                transport.finishAllWrites()
                transport.room = .max
                loop.advance(by: .zero)
                #expect(transport.sent == expected, "in turn \(turn)")
                guard transport.sent == expected else { return }
            }
        }
    }

    @Test("a loop keeps at most 512 KiB for what its streams gather", .enabled(if: !isSanitized))
    func keptMemory() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop.virtual()
            let (stream, transport) = makeStream(on: loop)
            stream.gathersWrites = true
            func inUse(after size: Int) -> Int {
                stream.write([UInt8](repeating: 7, count: size))
                loop.advance(by: .zero)
                transport.sent = Data()
                let heap = mallinfo2()
                return heap.uordblks + heap.hblkhd
            }
            let least = inUse(after: 1)
            #expect((200_000..<300_000).contains(inUse(after: 200_000) - least))
            for size in stride(from: 10_000, to: 700_000, by: 10_000) {
                #expect(inUse(after: size) - least < 600_000, "\(size)")
            }
            #expect(inUse(after: 5_000_000) - least < 100_000)
            stream.abort()
            transport.finishClose()
        }
    }

    @Test("a stream that sends often in a turn hears of its end once", .enabled(if: !isSanitized))
    func manySendings() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop.virtual()
            var limits = StreamLimits()
            limits.writeCap = 1
            let (stream, transport) = makeStream(on: loop, limits: limits)
            stream.gathersWrites = true
            func inUse(after count: Int) -> Int {
                loop.later { for _ in 0..<count { stream.write([7]) } }
                loop.advance(by: .zero)
                #expect(transport.sent.count == count)
                transport.sent = Data()
                let heap = mallinfo2()
                return heap.uordblks + heap.hblkhd
            }
            let least = inUse(after: 1)
            #expect(inUse(after: 20_000) - least < 100_000)
            stream.abort()
            transport.finishClose()
        }
    }

    enum Letting: CaseIterable { case all, some, full, queued, cancelled, broken }

    @Test("code that runs when written data is let go may write", arguments: Letting.allCases, [false, true])
    func lettingGo(_ way: Letting, _ isGathering: Bool) {
        let size = way == .full ? 300_000 : 20_000
        withStream { stream, transport, loop in
            stream.gathersWrites = isGathering
            transport.room = [.some: 20_100, .queued: 0, .cancelled: 0, .broken: 0][way] ?? .max
            var isGone = false
            func data() -> Data {
                let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
                unsafe memory.initializeMemory(as: UInt8.self, repeating: 7, count: size)
                return unsafe Data(
                    bytesNoCopy: memory, count: size,
                    deallocator: .custom { [unowned stream] memory, _ in
                        unsafe memory.deallocate()
                        isGone = true
                        stream.write("x").ignoreFailure()
                    })
            }
            if way == .cancelled { stream.write("0").ignoreFailure() }
            let write = stream.write(data())
            let last = stream.write("c").ignoreFailure()
            if way == .cancelled { write.cancel() }
            loop.advance(by: .zero)
            if way == .broken { transport.fail() }
            transport.room = .max
            transport.finishAllWrites()
            loop.advance(by: .zero)
            transport.finishAllWrites()
            loop.advance(by: .zero)
            guard way != .broken else { return #expect(isGone) }
            #expect(last.succeeded && isGone)
            let isCut = way == .cancelled && !isGathering
            let expected =
                Data(way == .cancelled ? "0" : "") + Data(repeating: 7, count: isCut ? 0 : size)
            #expect(transport.sent.filter { $0 != UInt8(ascii: "x") } == expected + Data("c"))
            #expect(transport.sent.count == expected.count + 2)
            #expect(stream.bytesSent == expected.count + 2 && stream.bufferedBytes == 0)
            #expect(transport.sent.prefix(expected.count) == expected || isCut)
        }
    }

    @Test("an empty write completes with those before it, and alone at once")
    func empty() {
        withGathering { stream, transport, loop in
            #expect(stream.write("").succeeded)
            #expect(stream.write([Data()]).succeeded)
            stream.write("a")
            let empty = stream.write("")
            #expect(!empty.isCompleted)
            loop.advance(by: .zero)
            #expect(empty.succeeded)
            #expect(stream.write("").succeeded)
        }
    }

    @Test("cancelling the wait for gathered writes has no effect on them")
    func cancel() {
        withGathering { stream, transport, loop in
            stream.write("ab")
            let (first, second) = (stream.write(""), stream.write(""))
            first.cancel()
            loop.advance(by: .zero)
            #expect(transport.sent == Data("ab"))
            #expect(second.succeeded)
        }
    }

    enum End: CaseIterable { case shutdownWrite, close, turnedOff }

    @Test("an end waits for what has been gathered", arguments: End.allCases)
    func ends(_ end: End) {
        withGathering { stream, transport, loop in
            stream.write("a")
            let left = stream.write("")
            switch end {
            case .shutdownWrite: stream.shutdownWrite()
            case .close: stream.close()
            case .turnedOff:
                stream.gathersWrites = false
                stream.write("b")
                #expect(left.succeeded && transport.sent == Data("a"))
                transport.finishAllWrites()
                #expect(transport.sent == Data("ab"))
            }
            #expect(transport.shutdowns == 0 && transport.wasReset == nil)
            loop.advance(by: .zero)
            #expect(left.succeeded)
            #expect(transport.sent.first == UInt8(ascii: "a"))
            #expect(transport.shutdowns == (end == .shutdownWrite ? 1 : 0))
            #expect(transport.wasReset == (end == .close ? false : nil))
        }
    }

    @Test("a failure fails what has been gathered, whatever it comes from", arguments: [0, 1, 2])
    func failure(_ way: Int) {
        withGathering { stream, transport, loop in
            stream.write("a")
            let (left, closed) = (stream.write(""), stream.closed)
            switch way {
            case 0: transport.writeError = Broken()
            case 1: transport.fail()
            default: stream.abort()
            }
            loop.advance(by: .zero)
            #expect(way == 2 ? left.streamError == .connectionClosed : left.error as? Broken == Broken())
            #expect(stream.write("c").error != nil)
            transport.finishClose()
            #expect(way == 2 ? closed.succeeded : closed.error as? Broken == Broken())
            #expect(transport.sent.isEmpty)
        }
    }

    @Test("a stream of which nothing is held stays until what has been gathered has left")
    func dropped() {
        let loop = EventLoop.virtual()
        var (stream, transport): (ByteStream?, ScriptedTransport) = makeStream(on: loop)
        stream?.gathersWrites = true
        stream?.write("a")
        stream?.close()
        stream = nil
        loop.advance(by: .zero)
        transport.finishClose()
        #expect(transport.sent == Data("a"))
        expectNothingAlive(on: loop)
    }

    @Test("writable waits for what has been gathered, too, and only if that is much")
    func writable() {
        var limits = StreamLimits()
        (limits.writeHighWaterMark, limits.writeLowWaterMark) = (4, 2)
        withStream(limits: limits) { stream, transport, loop in
            stream.gathersWrites = true
            stream.write("abc")
            #expect(stream.writable.succeeded)
            stream.write("d")
            let (writable, other) = (stream.writable, stream.writable)
            #expect(!writable.isCompleted && !other.isCompleted)
            loop.advance(by: .zero)
            #expect(writable.succeeded && other.succeeded)
        }
    }
}
