import ByteStreams
import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

struct RandomisedTests {
    private enum Frame {
        case exactly(Data)
        case until(Data, delimiter: Data)
        case line(Data, ending: String)

        var bytes: Data {
            switch self {
            case .exactly(let payload): payload
            case .until(let payload, let delimiter): payload + delimiter
            case .line(let payload, let ending): payload + Data(ending)
            }
        }

        var payload: Data {
            switch self {
            case .exactly(let payload), .until(let payload, _), .line(let payload, _): payload
            }
        }

        func read(_ stream: ByteStream) -> Future<Data> {
            switch self {
            case .exactly(let payload): orEnd(stream.read(exactly: payload.count))
            case .until(let payload, let delimiter):
                orEnd(stream.read(until: delimiter, limit: payload.count))
            case .line(let payload, _): orEnd(stream.readLine(limit: payload.count))
            }
        }

        /// What is derived from a read that has completed must not be cancelled: the bytes are in there.
        private func orEnd(_ read: Future<Data?>) -> Future<Data> {
            let bytes = read.map { $0 ?? Data("end") }
            if read.isCompleted { read.loop.advance(by: .zero) }
            return bytes
        }

        static func random(_ random: inout SeededGenerator) -> Frame {
            let size = random.below(20) == 0 ? 6000 : random.below(30)
            switch random.below(3) {
            case 0:
                return .exactly(random.bytes(size))
            case 1:
                let delimiter = random.bytes(1 + random.below(4), below: 2)
                let text = random.bytes(size, below: 3) + delimiter
                let end = text.indices.first { text[$0...].starts(with: delimiter) }!
                return .until(text.prefix(end), delimiter: delimiter)
            default:
                let text = Data(
                    random.bytes(size).filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
                return .line(text, ending: random.below(2) == 0 ? "\n" : "\r\n")
            }
        }
    }

    @Test(
        "frames survive every way of splitting, pausing, cancelling and timing out",
        arguments: SeededGenerator.seeds(10))
    func reads(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var limits = StreamLimits()
        limits.readHighWaterMark = 1 + random.below(200)
        limits.readLowWaterMark = random.below(limits.readHighWaterMark)
        let frames = (0..<60).map { _ in Frame.random(&random) }
        let tail = random.bytes(random.below(100))
        try withStream(limits: limits) { stream, transport, loop in
            var unsent = frames.reduce(Data()) { $0 + $1.bytes } + tail
            func deliver() {
                let size = min(unsent.count, 1 + random.below(random.below(10) == 0 ? 5000 : 12))
                transport.deliver(Data(unsent.prefix(size)))
                unsent = unsent.dropFirst(size)
                if unsent.isEmpty { transport.deliverEnd() }
            }
            for frame in frames {
                var isRead = false
                while !isRead {
                    var read = frame.read(stream)
                    if random.below(2) == 0 { read = read.timeout(after: .milliseconds(1 + random.below(5))) }
                    while !read.isCompleted {
                        switch random.below(10) {
                        case 0: read.cancel()
                        case 1: loop.advance(by: .milliseconds(random.below(4)))
                        case 2: loop.advance(by: .zero)
                        default: deliver()
                        }
                    }
                    if let data = read.now {
                        try #require(data == frame.payload)
                        #expect(data.startIndex == 0)
                        isRead = true
                    } else {
                        try #require(read.wasCancelled || read.error is FutureError)
                    }
                    if random.below(3) == 0 { deliver() }
                }
            }
            let rest = stream.readToEnd()
            while !unsent.isEmpty { deliver() }
            loop.advance(by: .zero)
            #expect(rest.now == tail)
        }
    }

    @Test("chunks add up to what was sent, with every kind of body", arguments: SeededGenerator.seeds(10))
    func chunks(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var limits = StreamLimits()
        limits.readHighWaterMark = 1 + random.below(200)
        limits.readLowWaterMark = 0
        let sent = random.bytes(5000)
        withStream(limits: limits) { stream, transport, loop in
            var received = Data()
            var isBusy = false
            var loops = 0
            func start() -> Future<Void> {
                loops += 1
                return stream.forEachChunk { chunk -> Future<Void> in
                    #expect(!isBusy)
                    received.append(chunk)
                    guard random.below(2) == 0 else { return loop.succeeded() }
                    isBusy = true
                    return loop.sleep(for: .milliseconds(random.below(3))).always { isBusy = false }
                }
            }
            var done = start()
            var unsent = sent
            while !done.succeeded {
                switch random.below(10) {
                case 0: loop.advance(by: .milliseconds(2))
                case 1:
                    if done.cancel() {
                        loop.advance(by: .zero)
                        done = start()
                    }
                default:
                    let size = min(unsent.count, random.below(60))
                    transport.deliver(Data(unsent.prefix(size)))
                    unsent = unsent.dropFirst(size)
                    if unsent.isEmpty { transport.deliverEnd() }
                }
            }
            #expect(received == sent)
            #expect(loops > 1)
        }
    }

    @Test(
        "writes arrive in order, but for those that were cancelled in time",
        arguments: SeededGenerator.seeds(10))
    func writes(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        withStream { stream, transport, loop in
            var expected: [Data] = []
            var total = 0
            var writes: [(index: Int, future: Future<Void>)] = []
            var completions: [Int: Int] = [:]
            var succeeded: [Int] = []
            for step in 0..<2000 {
                switch random.below(8) {
                case 0:
                    transport.room = random.below(3) == 0 ? random.below(500) : 0
                case 1, 2:
                    // Now and then the queue grows long.
                    if transport.batch != nil, step / 300 % 2 == 0 { transport.finishWrite() }
                case 3:
                    guard let write = writes.randomElement(using: &random) else { break }
                    write.future.cancel()
                    if write.future.wasCancelled {
                        total -= expected[write.index].count
                        expected[write.index] = Data()
                    }
                default:
                    let buffers = (0..<random.below(4)).map { _ in random.bytes(random.below(40)) }
                    let future = buffers.count == 1 ? stream.write(buffers[0]) : stream.write(buffers)
                    let index = expected.count
                    expected.append(buffers.reduce(Data(), +))
                    total += expected[index].count
                    writes.append((index, future))
                    future.whenComplete { result in
                        completions[index, default: 0] += 1
                        if case .success = result { succeeded.append(index) }
                    }
                }
                #expect(stream.bufferedBytes == total - transport.sent.count)
            }
            let close = stream.close()
            transport.finishAllWrites()
            transport.finishClose()
            loop.advance(by: .zero)
            #expect(close.succeeded)
            #expect(transport.sent == expected.reduce(Data(), +))
            #expect(completions.count == writes.count && completions.values.allSatisfy { $0 == 1 })
            #expect(succeeded == succeeded.sorted())
        }
    }
}
