import FoundationEssentials
import TestSupport
import Testing
import UVFutures

/// No buffer grows without bounds: whoever stops consuming holds the sender back, whatever it consumes with.
struct BackPressureTests {
    enum Consumer: CaseIterable {
        case read, readExactly, readLine, forEachChunk, chunks, lines, pipe
    }

    static let size = isSoaking ? 1 << 30 : isSanitized ? 32 << 20 : 64 << 20
    /// What the system buffers for both ends, and the stream.
    static let bound = size / 2

    @Test(
        "a consumer that stops holds the sender back, and gets every byte later",
        arguments: Consumer.allCases, TestNetwork.allCases)
    func stops(_ consumer: Consumer, network: TestNetwork) throws {
        try withLoop(network) { loop in
            let (sender, receiver) = try loop.connectedPair()
            let (near, far) = try loop.connectedPair()
            let sending = Sending(Self.size, to: sender)
            let gate = loop.makePromise(of: Void.self)
            let consuming = consume(receiver, with: consumer, near, far, stoppingAt: gate.future)
            let stopped = try loop.run(until: sending.stall())
            #expect(stopped > 0 && stopped < Self.bound, "\(stopped) bytes")
            #expect(sender.bufferedBytes <= Sending.chunk)
            gate.succeed()
            #expect(try loop.run(until: consuming) == Self.size)
            try loop.run(until: sending.done)
            loop.closeAll(sender, receiver, near, far)
        }
    }

    /// How many bytes came: a few, and, when `gate` has opened, all others.
    private func consume(
        _ stream: ByteStream, with consumer: Consumer, _ near: ByteStream, _ far: ByteStream,
        stoppingAt gate: Future<Void>
    ) -> Future<Int> {
        var count = 0
        switch consumer {
        case .read: return sum(gate) { stream.read() }
        case .readExactly: return sum(gate) { stream.read(exactly: 1 << 16).map { $0 ?? Data() } }
        case .readLine: return sum(gate) { stream.readLine().map { $0.map { $0 + [10] } ?? Data() } }
        case .forEachChunk:
            return stream.forEachChunk { chunk -> Future<Void> in
                count += chunk.count
                return gate.map { _ in }
            }
            .map { count }
        case .chunks:
            let iterator = stream.chunks.makeAsyncIterator()
            return sum(gate) { iterator.pull().map { $0 ?? Data() } }
        case .lines:
            let iterator = stream.lines().makeAsyncIterator()
            return sum(gate) { iterator.pull().map { $0.map { $0 + [10] } ?? Data() } }
        case .pipe: return stream.pipe(to: near).and(sum(gate) { far.read() }).map { _, count in count }
        }
    }

    private func sum(_ gate: Future<Void>, _ read: @escaping () -> Future<Data>) -> Future<Int> {
        func next(_ count: Int) -> Future<Int> {
            read().flatMap { chunk in
                guard !chunk.isEmpty else { return gate.map { _ in count } }
                return gate.flatMap { next(count + chunk.count) }
            }
        }
        return next(0)
    }
}

/// Lines, as fast as they are taken.
private final class Sending {
    static let chunk = 1 << 16
    private let block: Data
    private let stream: ByteStream
    private var left: Int
    private(set) var sent = 0
    private(set) var done: Future<Void>

    init(_ size: Int, to stream: ByteStream) {
        self.stream = stream
        left = size
        let line = Data(repeating: 0x61, count: 16_383) + [10]
        block = (0..<Self.chunk / line.count).reduce(into: Data()) { data, _ in data += line }
        done = stream.loop.succeeded()
        done = send()
    }

    private func send() -> Future<Void> {
        guard left > 0 else { return stream.shutdownWrite() }
        left -= block.count
        return stream.write(block).flatMap { [self] in
            sent += block.count
            return send()
        }
    }

    /// How much had been sent when nothing had moved for a while.
    func stall() -> Future<Int> {
        let promise = stream.loop.makePromise(of: Int.self)
        var (last, quiet) = (-1, 0)
        let ticks = stream.loop.repeat(every: .milliseconds(2)) { [self] in
            quiet = sent == last ? quiet + 1 : 0
            last = sent
            if quiet == 50 || done.isCompleted { promise.succeed(sent) }
        }
        promise.future.whenComplete { _ in ticks.cancel() }
        return promise.future
    }
}
