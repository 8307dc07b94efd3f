import Testing
import UVFutures

@testable import FuturesTesting

/// The ports that a simulated system chooses.
struct SocketTableTests {
    @Test("they are from 32768 to 60999, and one that is in use is passed over")
    func range() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        let sockets = try (0..<100).map { _ in
            try UDPSocket.bind(host: "127.0.0.1", port: 0, on: host.loop)
        }
        let listeners = try (0..<100).map { _ in
            try TCPListener(host: "127.0.0.1", port: 0, on: host.loop)
        }
        for ports in [sockets.map(\.localAddress.port), listeners.map(\.localAddress.port)] {
            #expect(Set(ports).count == 100 && ports.allSatisfy { (32_768...60_999).contains($0) })
            #expect(ports.max()! > 58_000 && ports.min()! < 36_000)
        }
    }

    @Test("on a virtual loop each is the next one that is free")
    func inARow() throws {
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let taken = (
            try UDPSocket.bind(host: "127.0.0.1", port: 32_769, on: loop),
            try TCPListener(host: "127.0.0.1", port: 32_769, on: loop)
        )
        let sockets = try (0..<3).map { _ in try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop) }
        #expect(sockets.map(\.localAddress.port) == [32_768, 32_770, 32_771])
        let listeners = try (0..<3).map { _ in try TCPListener(host: "127.0.0.1", port: 0, on: loop) }
        #expect(listeners.map(\.localAddress.port) == [32_768, 32_770, 32_771])
        let connecting = TCPConnection.connect(host: "127.0.0.1", port: 32_770, on: loop)
        #expect(try loop.run(until: connecting).localAddress?.port == 32_772)
        loop.simulatedHost("a test").sockets.lastDatagramPort = 60_998
        let last = try (0..<2).map { _ in try UDPSocket.bind(host: "127.0.0.2", port: 0, on: loop) }
        #expect(last.map(\.localAddress.port) == [60_999, 32_772])
        loop.simulatedHost("a test").sockets.lastPort = 60_998
        let lastListeners = try (0..<2).map { _ in try TCPListener(host: "127.0.0.2", port: 0, on: loop) }
        #expect(lastListeners.map(\.localAddress.port) == [60_999, 32_773])
        withExtendedLifetime((taken, sockets, listeners, last, lastListeners)) {}
    }

    @Test("the peer of a UNIX socket in a world is the same process in each run")
    func credentials() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        let listener = try UnixListener(path: "/run/x", on: host.loop)
        let ends = [
            try world.run(until: UnixConnection.connect(path: "/run/x", on: host.loop)),
            try world.run(until: listener.accept()),
        ]
        for end in ends {
            let credentials = try end.peerCredentials
            #expect(credentials.processID == 1 && credentials.userID == 1000 && credentials.groupID == 1000)
        }
    }

    @Test(
        "a listener that sets permissions needs one more descriptor, and so does one at a used path")
    func descriptors() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        func listen(_ path: String = "/run/x") -> Result<UnixListener, any Error> {
            Result {
                try UnixListener(path: path, options: ListenOptions(permissions: 0o777), on: host.loop)
            }
        }
        func text(_ result: Result<UnixListener, any Error>) -> String {
            if case .failure(let error) = result { "\(error)" } else { "listens" }
        }
        host.maxDescriptors = 1
        #expect(text(listen()).contains("EMFILE"))
        #expect(host.disk.names(in: "/run") == [])
        host.maxDescriptors = 2
        let first = listen()
        #expect(text(first) == "listens")
        #expect(text(listen("/run/x")) == "listen EMFILE unix:/run/x: too many open files")
        host.maxDescriptors = 3
        #expect(text(listen("/run/x")) == "listen EADDRINUSE unix:/run/x: address already in use")
        host.disk.failsReads = true
        #expect(
            world.failure(of: UnixConnection.connect(path: "/run/x", on: host.loop))
                == "connect EIO unix:/run/x: i/o error")
        host.disk.failsReads = false
        let connection = try world.run(until: UnixConnection.connect(path: "/run/x", on: host.loop))
        connection.abort()
        withExtendedLifetime(first) {}
    }
}
