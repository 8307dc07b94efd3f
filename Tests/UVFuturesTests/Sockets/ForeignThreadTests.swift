import FoundationEssentials
import Futures
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Servers, sockets, connections, files and watches are used on the thread of their loop. Each verb says so.
struct ForeignThreadTests {
    final class Belongings {
        let loop: EventLoop
        let server: TCPServer
        var listener: TCPListener!
        var connection: TCPConnection!
        let peer: TCPConnection
        var socket: UDPSocket!
        let directory: Directory
        let file: File
        var watch: FileWatch!
        let log: FollowStream

        init(on loop: EventLoop) throws {
            self.loop = loop
            server = TCPServer(on: loop, owning: { _ in })
            listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let port = listener.localAddress.port
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
            let pair = try loop.run(until: connecting.and(listener.accept()))
            (connection, peer) = (pair.0, pair.1)
            socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            loop.simulatedDisk.write("/tree/file", "text")
            directory = try loop.run(until: Directory.open("/tree", on: loop))
            file = try loop.run(until: directory.open("file"))
            watch = try loop.run(until: FileWatch.watch(tree: "/tree", on: loop))
            log = try loop.run(until: File.follow("/tree/file", on: loop))
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
        { _ = $0.server.drain(on: .terminate, within: .zero) },
        { _ = TCPConnection.connect(host: "127.0.0.1", port: 1, on: $0.loop) },
        { _ = try TCPListener(host: "127.0.0.1", port: 0, on: $0.loop) },
        { _ = $0.listener.accept() },
        { _ = $0.listener.close() },
        { _ = try $0.listener.release() },
        { $0.listener = nil },
        { _ = $0.connection.write(Data([1])) },
        { _ = $0.connection.write([Data([1])]) },
        { _ = $0.connection.read() },
        { _ = $0.connection.readLine() },
        { _ = $0.connection.readToEnd() },
        { _ = $0.connection.shutdownWrite() },
        { _ = $0.connection.close() },
        { _ = $0.connection.abort() },
        { _ = $0.connection.closed },
        { _ = try $0.connection.release() },
        { try $0.connection.setUserTimeout(nil) },
        { $0.connection.noDelay = false },
        { $0.connection = nil },
        { _ = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: $0.loop) },
        { $0.socket.send(Data([1]), to: $0.socket.localAddress) },
        { $0.socket.send(contentsOf: [], to: $0.socket.localAddress) },
        { _ = $0.socket.bufferedBytes },
        { _ = $0.socket.writable },
        { _ = $0.socket.isOpen },
        { _ = $0.socket.statistics },
        { _ = try $0.socket.receiveBufferSize },
        { _ = try $0.socket.sendBufferSize },
        { try $0.socket.join("239.1.2.3") },
        { try $0.socket.setMulticastInterface("lo") },
        { try $0.socket.setMulticastLoopback(true) },
        { try $0.socket.setBroadcast(true) },
        { _ = try $0.socket.release() },
        { $0.socket = nil },
        { _ = $0.socket.receive() },
        { _ = $0.socket.forEachDatagram { _, _ in } },
        { $0.socket.onUnreachable(nil) },
        { try $0.socket.setReceiveBufferSize(4096) },
        { try $0.socket.setSendBufferSize(4096) },
        { _ = $0.socket.close() },
        { _ = Directory.open("/", on: $0.loop) },
        { _ = $0.directory.open("file") },
        { _ = $0.directory.information(of: "file") },
        { _ = $0.directory.sync() },
        { _ = $0.directory.close() },
        { _ = $0.file.read(atMost: 1, at: 0) },
        { _ = $0.file.readAll() },
        { _ = $0.file.write(Data([1]), at: 0) },
        { _ = $0.file.append(Data([1])) },
        { _ = $0.file.truncate(to: 1) },
        { _ = $0.file.sync() },
        { _ = $0.file.information() },
        { _ = $0.file.close() },
        { _ = try ChildProcess.start(ChildProcess.Configuration("true"), on: $0.loop) },
        { _ = try SystemResolver().resolve("localhost", port: 1, on: $0.loop) },
        { _ = try DNSResolver().resolve("localhost", port: 1, on: $0.loop) },
        { _ = $0.loop.addresses(of: "localhost", port: 1) },
        { _ = $0.loop.resolver },
        { $0.loop.resolver = SystemResolver.shared },
        { $0.loop.servesMainQueue = true },
        { _ = $0.watch.next() },
        { $0.watch.onChange(nil) },
        { _ = $0.watch.isOpen },
        { _ = $0.watch.directoryCount },
        { _ = $0.watch.close() },
        { $0.watch = nil },
        { _ = File.follow("/tree/file", on: $0.loop) },
        { _ = $0.log.position },
        { $0.log.onLoss(nil) },
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
