import Glibc
import Testing
import UVFutures

@testable import FuturesTesting

/// A client of what is tested. It is a plain socket, which the loop knows nothing of. A simulated network has no
/// descriptors: there it is a connection of the loop, on which nobody reads until `receive` is called.
final class Peer {
    private enum Way {
        case socket(PlainSocket)
        case connection(Future<TCPConnection>, Inbox)
    }

    private final class Inbox {
        var bytes: [UInt8] = []
        var isReading = false
        var hasEnded = false
    }

    private let way: Way

    /// Connects to a port of the loopback interface.
    init(_ network: TestNetwork, port: Int, on loop: EventLoop) {
        switch network {
        case .system: way = .socket(.connected(to: port))
        case .virtual:
            let connecting = TCPConnection.connect(host: "127.0.0.1", port: port, on: loop)
            connecting.ignoreFailure()
            way = .connection(connecting, Inbox())
        }
    }

    init(_ socket: PlainSocket) { way = .socket(socket) }

    deinit {
        if case .connection(let connecting, _) = way { Self.with(connecting) { $0.close().ignoreFailure() } }
    }

    /// Whether all of `bytes` could be sent, or can be as soon as there is a connection.
    func send(_ bytes: [UInt8]) -> Bool {
        switch way {
        case .socket(let socket): return socket.send(bytes)
        case .connection(let connecting, _):
            var isBroken = false
            Self.with(connecting) { connection in
                let write = connection.write(bytes)
                if case .failure? = write.result { isBroken = true }
                write.ignoreFailure()
            }
            return !isBroken
        }
    }

    /// What has arrived; `nil` if nothing has, and empty at the end or after a reset.
    func receive() -> [UInt8]? {
        switch way {
        case .socket(let socket): return socket.receive()
        case .connection(let connecting, let inbox):
            Self.read(connecting, into: inbox)
            if inbox.bytes.isEmpty { return inbox.hasEnded ? [] : nil }
            defer { inbox.bytes = [] }
            return inbox.bytes
        }
    }

    /// Sends the end, and takes nothing more.
    func shutdown() {
        switch way {
        case .socket(let socket): socket.shutdown()
        case .connection(let connecting, _): Self.with(connecting) { $0.shutdownWrite().ignoreFailure() }
        }
    }

    private static func read(_ connecting: Future<TCPConnection>, into inbox: Inbox) {
        guard !inbox.isReading else { return }
        inbox.isReading = true
        with(connecting) { connection in
            connection.forEachChunk { inbox.bytes += $0 }.whenComplete { _ in inbox.hasEnded = true }
        }
    }

    /// Calls `body` now or, if there is no connection yet, as soon as there is one.
    private static func with(_ connecting: Future<TCPConnection>, _ body: @escaping (TCPConnection) -> Void) {
        if case .success(let connection)? = connecting.result { return body(connection) }
        connecting.whenSuccess(body)
    }
}

/// A listener whose backlog is full: it answers nobody.
final class HangingListener {
    let port: Int
    /// What keeps the port, and what fills the backlog.
    private let kept: [AnyObject]

    init(_ network: TestNetwork, on loop: EventLoop) throws {
        switch network {
        case .system:
            let listener = PlainSocket.bound(backlog: 0)
            port = listener.port
            kept = [listener, PlainSocket.connected(to: port)]
        case .virtual:
            let listener = try TCPListener(
                host: "127.0.0.1", port: 0, options: ListenOptions(backlog: 0), on: loop)
            kept = [listener, try loop.connect(to: listener.localAddress)]
            port = listener.localAddress.port
        }
    }

    deinit {
        (kept[0] as? TCPListener)?.close()
        (kept[1] as? TCPConnection)?.abort()
    }
}

extension TestNetwork {
    /// A port of the loopback interface on which nobody listens, as long as what comes with it is kept.
    func unusedPort() -> (Int, keeping: PlainSocket?) {
        guard self == .system else { return (7, nil) }
        let socket = PlainSocket.bound()
        return (socket.port, socket)
    }

    /// Sends a signal to this process or, in a simulated network, to the host of `loop`.
    func send(_ signal: ProcessSignal, to loop: EventLoop) {
        guard self == .virtual else { return #expect(kill(getpid(), signal.rawValue) == 0) }
        let host = loop.simulatedHost
        host.simulation.call { host.send(signal) }
    }

    /// Calls `body` when the peers that have been made are in the backlog, and before one of them is accepted. Plain
    /// sockets are there already. In a simulated network a handshake takes two messages.
    func whenInBacklog(on loop: EventLoop, _ body: @escaping () -> Void) {
        guard self == .virtual else { return body() }
        let driver = loop.core.driver as! VirtualDriver
        driver.simulation.call { driver.simulation.call { driver.deliver(body) } }
    }

    /// Lets time pass in which the loop does nothing.
    func holdUp(_ loop: EventLoop, for time: Duration) {
        switch self {
        case .system: usleep(UInt32(time / .microseconds(1)))
        case .virtual: loop.advanceWithoutRunning(by: time)
        }
    }
}

extension EventLoop {
    /// The host of a virtual loop.
    var simulatedHost: SimulatedHost { (core.driver as! VirtualDriver).host }
}
