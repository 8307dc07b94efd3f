import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import ByteStreams

/// Streams, clients and pools are used on the thread of their loop. Each verb says so.
struct ForeignThreadTests {
    final class Belongings {
        let loop: EventLoop
        let stream, peer, other: MemoryStream
        var dropped: MemoryStream?
        let client: PipelinedClient<String>
        let connection: PipelinedConnection<String>
        let pool: ConnectionPool<MemoryStream>
        let pending: Future<Void>

        init(on loop: EventLoop) throws {
            self.loop = loop
            (stream, peer) = try MemoryStream.pair(on: loop)
            let pair = try MemoryStream.pair(on: loop)
            (dropped, other) = (pair.0, pair.1)
            let stream = stream
            client = try PipelinedClient(decodedBy: SemicolonDecoder(), on: loop) { loop.succeeded(stream) }
            loop.advance(by: .zero)
            connection = PipelinedConnection(peer, of: client)
            pool = try ConnectionPool(on: loop) { loop.never(of: MemoryStream.self) }
            pending = loop.never()
            other.write(Data(count: 1 << 24)).ignoreFailure()
            other.writable.ignoreFailure()
        }
    }

    static let verbs: [@Sendable (Belongings) throws -> Void] = [
        { $0.peer.gathersWrites = true },
        { _ = $0.peer.bufferedBytes },
        { _ = $0.other.writable },
        { _ = $0.peer.write("text") },
        { _ = $0.peer.write([Data([1])]) },
        { _ = $0.peer.write(NoSource()) },
        { _ = $0.peer.pipe(to: $0.stream) },
        { _ = $0.peer.read() },
        { _ = $0.peer.readLine() },
        { _ = $0.peer.readMessage(decodedBy: SemicolonDecoder()) },
        { _ = $0.peer.forEachChunk { _ in } },
        { _ = $0.peer.shutdownWrite() },
        { _ = $0.peer.closed },
        { _ = $0.peer.draining },
        { _ = $0.peer.answering($0.pending) },
        { _ = $0.peer.scope },
        { _ = $0.peer.injectedFaults },
        { $0.dropped = nil },
        { _ = $0.client.send(Data([1])) },
        { _ = $0.client.statistics },
        { _ = $0.client.closed },
        { _ = $0.client.close() },
        { _ = $0.client.drain(within: .seconds(1)) },
        { _ = $0.connection.send(Data([1])) },
        { mine in
            _ = try PipelinedClient(decodedBy: SemicolonDecoder(), on: mine.loop) {
                mine.loop.succeeded(mine.stream)
            }
        },
        { _ = $0.pool.acquire() },
        { _ = $0.pool.drain(within: .seconds(1)) },
        { mine in _ = try ConnectionPool(on: mine.loop) { mine.loop.succeeded(mine.stream) } },
    ]

    @Test("a verb on another thread", arguments: verbs.indices)
    func elsewhere(verb: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [verb] in
            nonisolated(unsafe) let belongings = try Belongings(on: EventLoop.virtual())
            try onThread { try unsafe Self.verbs[verb](belongings) }
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            printed.contains("used off its event loop's thread. Go there first, with loop.execute { … }."))
    }
}

private final class NoSource: OutboundSource {
    func begin(on stream: ByteStream) {}

    func partWasSent() {}

    func stop() {}
}
