import FuturesTesting
import TLSStreams
import TestSupport
import Testing

/// Contexts and encrypted connections are used on the thread of their loop. Each verb says so.
struct ForeignThreadTests {
    final class Belongings {
        let loop: EventLoop
        let client, server: TLSContext
        let pair: Pair
        let near, far: MemoryStream

        init(on loop: EventLoop) throws {
            self.loop = loop
            (client, server) = (try loop.client(), try loop.server())
            pair = try loop.pair(server, client)
            (near, far) = try MemoryStream.pair(on: loop)
        }
    }

    static let verbs: [@Sendable (Belongings) throws -> Void] = [
        { _ = try TLSContext.client(.usual, on: $0.loop) },
        { _ = try TLSContext.server(.usual, on: $0.loop) },
        { try $0.client.reload() },
        { try $0.client.reload(TLSClientConfiguration.usual) },
        { try $0.server.reload(TLSServerConfiguration.usual) },
        { _ = $0.near.startTLS(client: $0.client, host: "localhost") },
        { _ = $0.far.startTLS(server: $0.server) },
        { _ = TLSConnection.connect(host: "127.0.0.1", port: 1, context: $0.client) },
        { _ = $0.pair.client.peerCertificate },
        { _ = $0.pair.client.peerCertificates },
        { $0.pair.client.renewKeys() },
        { mine in _ = try TLSServer(context: mine.server) { _ in mine.loop.succeeded() } },
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
