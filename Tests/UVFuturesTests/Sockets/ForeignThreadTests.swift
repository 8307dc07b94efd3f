import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Servers, connections, directories and watches are used on the thread of their loop. Each verb says so.
struct ForeignThreadTests {
    final class Belongings {
        let loop: EventLoop
        let server: TCPServer
        let watch: FileWatch

        init(on loop: EventLoop) throws {
            self.loop = loop
            server = TCPServer(on: loop, owning: { _ in })
            loop.simulatedDisk.makeDirectory("/tree")
            watch = try loop.run(until: FileWatch.watch(tree: "/tree", on: loop))
        }
    }

    static let verbs: [@Sendable (Belongings) throws -> Void] = [
        { mine in _ = TCPServer(on: mine.loop, owning: { _ in }) },
        { mine in _ = SocketServer<SocketConnection>(on: mine.loop, owning: { _ in }) },
        { _ = try $0.server.listen(host: "127.0.0.1", port: 0) },
        { try $0.server.setAcceptLimits(AcceptLimits()) },
        { $0.server.proxyProtocol = nil },
        { _ = $0.server.statistics },
        { _ = $0.server.releaseSockets() },
        { _ = $0.server.ended },
        { _ = $0.server.close() },
        { _ = TCPConnection.connect(host: "127.0.0.1", port: 1, on: $0.loop) },
        { _ = Directory.open("/", on: $0.loop) },
        { _ = $0.watch.next() },
        { $0.watch.onChange(nil) },
        { _ = $0.watch.isOpen },
        { _ = $0.watch.directoryCount },
        { _ = $0.watch.close() },
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
