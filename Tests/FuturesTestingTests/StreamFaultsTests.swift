import ByteStreams
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Two programs talk over connections in memory that fail in every way they can.
struct StreamFaultsTests {
    /// `FAULT_SEED` in the environment replays one that failed.
    static let seeds: [UInt64] = {
        if let seed = ProcessInfo.processInfo.environment["FAULT_SEED"].flatMap({ UInt64($0) }) {
            return [seed]
        }
        return SeededGenerator.seeds(isSoaking ? 10_000 : largeCount / 200)
    }()

    @Test("what a fault ends a connection with reads as a peer that left")
    func disconnection() {
        for error in [MemoryStreamError.connectionReset, .timedOut] { #expect(error.isDisconnection) }
    }

    @Test("whatever happens, each byte is delivered or its failure reported, and nothing is left alive")
    func faults() {
        var injected = StreamFaults.Counts()
        var outcomes = [0, 0]
        for seed in Self.seeds {
            let conversation = Conversation(seed: seed)
            let complaints = conversation.run()
            #expect(complaints.isEmpty, "again with FAULT_SEED=\(seed)")
            injected += conversation.injected
            outcomes[conversation.isComplete ? 0 : 1] += 1
        }
        print(
            "\(Self.seeds.count) seeds, \(outcomes[0]) ended well and \(outcomes[1]) in failure; injected:",
            "\(injected.delayed) delays, \(injected.fragmented) fragmentations, \(injected.coalesced) coalescings,",
            "\(injected.resets) resets, \(injected.cuts) cuts")
        guard Self.seeds.count >= 50 else { return }
        #expect(injected.delayed > 0 && injected.fragmented > 0 && injected.coalesced > 0)
        #expect(injected.resets > 0 && injected.cuts > 0)
        #expect(outcomes[0] > 0 && outcomes[1] > 0)
    }

    @Test("a seed that is run again does the same at the same times", arguments: SeededGenerator.seeds(20))
    func replay(_ seed: UInt64) {
        let runs = (0..<2).map { _ in Conversation(seed: seed) }
        for run in runs { #expect(run.run().isEmpty) }
        #expect(runs[0].trace == runs[1].trace && runs[0].injected == runs[1].injected)
        #expect(!runs[0].trace.isEmpty)
    }
}

/// Both ends send and read as a seed says, perhaps through a proxy, until all is said or something broke.
private final class Conversation {
    private static let pattern = (0..<131_072).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private let seed: UInt64
    private var random: SeededGenerator
    private var loop: EventLoop
    private(set) var injected = StreamFaults.Counts()
    private(set) var isComplete = true
    /// Who got how many bytes when, and how it ended.
    private(set) var trace: [String] = []
    private var complaints: [String] = []
    private var writes = (made: 0, completed: 0)

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        loop = EventLoop.virtual()
    }

    private final class End {
        let name: String
        let stream: ByteStream
        var sent = Data()
        var received = Data()
        var failure: (any Error)?

        init(_ name: String, _ stream: ByteStream) {
            self.name = name
            self.stream = stream
        }
    }

    /// What is wrong, if something is.
    func run() -> [String] {
        var unhandled: [any Error] = []
        loop.onUnhandledFailure = { unhandled.append($0) }
        weak var client: ByteStream?
        weak var server: ByteStream?
        do {
            let first = try pair()
            (client, server) = (first.0, first.1)
            if random.below(2) == 0 {
                try talk(first.0, first.1, [first.0])
            } else {
                let second = try pair()
                relay(first.1, second.0)
                try talk(first.0, second.1, [first.0, second.0])
            }
        } catch {
            complain("\(error)")
        }
        loop.advance(by: .seconds(1))
        let alive = loop.statistics
        if client != nil || server != nil { complain("a stream is alive") }
        if alive.futures != 0 || alive.promises != 0 || alive.timers != 0 { complain("alive: \(alive)") }
        if !unhandled.isEmpty { complain("unhandled: \(unhandled)") }
        if writes.made != writes.completed { complain("\(writes) writes") }
        loop.onUnhandledFailure = nil
        return complaints
    }

    private func complain(_ text: String) { complaints.append(text) }

    private func pair() throws -> (MemoryStream, MemoryStream) {
        var faults = StreamFaults(seed: random.next())
        faults.delay = Double(random.below(3)) * 0.2
        faults.fragment = Double(random.below(3)) * 0.2
        faults.coalesce = Double(random.below(3)) * 0.3
        if random.below(3) == 0 { faults.reset = 0.02 }
        if random.below(3) == 0 { faults.cut = 0.02 }
        var limits = StreamLimits()
        limits.readHighWaterMark = 1 + random.below(4000)
        limits.readLowWaterMark = random.below(limits.readHighWaterMark)
        limits.writeHighWaterMark = 1 + random.below(4000)
        limits.writeLowWaterMark = random.below(limits.writeHighWaterMark)
        limits.closeTimeout = .seconds(200)
        return try MemoryStream.pair(
            on: loop, limits: limits, capacity: 1 + random.below(8000), faults: faults)
    }

    private func relay(_ a: ByteStream, _ b: ByteStream) {
        a.pipe(to: b).and(b.pipe(to: a)).timeout(after: .seconds(500)).whenComplete { result in
            if case .success = result {
                a.close()
                b.close()
            } else {
                a.abort()
                b.abort()
            }
        }
    }

    private func talk(_ a: ByteStream, _ b: ByteStream, _ links: [MemoryStream]) throws {
        let ends = [End("a", a), End("b", b)]
        let done = ends.map { run($0) }
        // What nobody ends has failed, by `stalled`.
        try loop.run(until: Future.all(done).map { _ in })
        try loop.run(until: Future.all(links.map { $0.closed.mapResult { _ in } }).map { _ in })
        for link in links { injected += link.injectedFaults }
        check(ends[0], sender: ends[1])
        check(ends[1], sender: ends[0])
    }

    private func check(_ end: End, sender: End) {
        if !sender.sent.starts(with: end.received) { complain("\(end.name) got other bytes") }
        if end.failure == nil, end.received != sender.sent {
            complain("\(end.name) got \(end.received.count) of \(sender.sent.count) bytes, and the end")
        }
        if end.failure != nil { isComplete = false }
        trace.append("\(end.name) \(end.failure.map { "\($0)" } ?? "got everything")")
    }

    private func run(_ end: End) -> Future<Void> {
        let receiving = receive(end)
        let sending = send(random.below(15), from: end)
        receiving.whenFailure { error in
            end.failure = error
            end.stream.abort()
        }
        sending.whenFailure { _ in end.stream.abort() }
        return receiving.mapResult { _ in }.and(sending.mapResult { _ in }).flatMap { _ in
            end.stream.close().mapResult { _ in }
        }
    }

    // MARK: Sending

    private func send(_ messages: Int, from end: End) -> Future<Void> {
        guard messages > 0 else { return end.stream.shutdownWrite() }
        let pause =
            random.below(3) == 0 ? loop.sleep(for: .milliseconds(random.below(300))) : loop.succeeded()
        return pause.flatMap { [self] in write(to: end) }.flatMap { [self] in send(messages - 1, from: end) }
    }

    private func write(to end: End) -> Future<Void> {
        let size = random.below(random.below(4) == 0 ? 12_000 : 300)
        let start = random.below(Self.pattern.count - size)
        let data = Data(Self.pattern[start..<start + size])
        end.sent.append(data)
        writes.made += 1
        let half = size / 2
        let write =
            random.below(2) == 0
            ? end.stream.write(data) : end.stream.write([data.prefix(half), data.dropFirst(half)])
        write.whenComplete { [self] _ in writes.completed += 1 }
        return random.below(3) == 0 ? end.stream.writable : write
    }

    // MARK: Reading

    private func receive(_ end: End) -> Future<Void> {
        switch random.below(4) {
        case 0: return readAll(end) { end.stream.read() }
        case 1:
            let iterator = end.stream.chunks.makeAsyncIterator()
            return readAll(end) { iterator.pull().map { $0 ?? Data() } }
        case 2:
            return end.stream.forEachChunk { [self] chunk -> Future<Void> in
                took(chunk, end)
                return random.below(3) == 0
                    ? loop.sleep(for: .milliseconds(random.below(50))) : loop.succeeded()
            }
            .timeout(after: .seconds(1000))
        default:
            return end.stream.readToEnd().timeout(after: .seconds(1000)).map { [self] in took($0, end) }
        }
    }

    private func readAll(_ end: End, _ read: @escaping () -> Future<Data>) -> Future<Void> {
        read().timeout(after: .seconds(300)).flatMap { [self] chunk in
            guard !chunk.isEmpty else { return loop.succeeded() }
            took(chunk, end)
            let pause =
                random.below(4) == 0 ? loop.sleep(for: .milliseconds(random.below(100))) : loop.succeeded()
            return pause.flatMap { [self] in readAll(end, read) }
        }
    }

    private func took(_ chunk: Data, _ end: End) {
        end.received.append(chunk)
        trace.append("\(loop.now) \(end.name) \(chunk.count)")
    }
}
