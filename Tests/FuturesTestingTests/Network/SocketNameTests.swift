import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct SocketNameTests {
    @discardableResult
    private func serve(_ host: SimulatedHost) throws -> UnixDatagramSocket {
        _ = try UnixServer.listen(path: "/run/server", on: host.loop) { connection in
            connection.write("\(host.startCount)")
        }
        return try UnixDatagramSocket.bind(path: "/run/log", on: host.loop)
    }

    private func ask(_ host: SimulatedHost, _ world: World) -> String {
        let answer = UnixConnection.connect(path: "/run/server", on: host.loop).flatMap { $0.readToEnd() }
        do { return String(decoding: try world.run(until: answer), as: UTF8.self) } catch {
            return "\(error)"
        }
    }

    @Test("a program that is killed leaves the files of its sockets, and its successor replaces them")
    func killed() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        let log = try serve(host)
        #expect(ask(host, world) == "1")
        host.kill()
        #expect(!log.isOpen)
        #expect(host.disk.names(in: "/run") == ["log", "server"])
        host.restart()
        #expect(ask(host, world) == "connect ECONNREFUSED unix:/run/server: connection refused")
        try serve(host)
        #expect(ask(host, world) == "2")
    }

    @Test("a loop that is shut down removes the files of its sockets", arguments: [true, false])
    func shutDown(isInWorld: Bool) throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        let loop = isInWorld ? host.makeLoop() : EventLoop.virtual()
        let disk = loop.simulatedDisk
        let listener = try UnixListener(path: "/run/listener", on: loop)
        let socket = try UnixDatagramSocket.bind(path: "/run/socket", on: loop)
        #expect(disk.names(in: "/run") == ["listener", "socket"])
        loop.shutdown()
        #expect(disk.names(in: "/run") == [])
        withExtendedLifetime((listener, socket)) {}
    }

    @Test("after a loss of power, a socket at a path is one that nobody has open, or there is none")
    func crashed() throws {
        var seen: Set<String> = []
        for seed in 0..<20 as Range<UInt64> {
            let world = World(seed: seed)
            let host = try world.addHost("host")
            try serve(host)
            host.restart()
            seen.insert(ask(host, world))
            try serve(host)
            #expect(ask(host, world) == "2")
        }
        #expect(
            seen == [
                "connect ECONNREFUSED unix:/run/server: connection refused",
                "connect ENOENT unix:/run/server: no such file or directory",
            ])
    }

    @Test("a full disk has no room for a socket, and one that fails makes none")
    func faults() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.disk.capacity = 0
        #expect(throws: SystemError.self) { try serve(host) }
        host.disk.capacity = .max
        host.disk.failsWrites = true
        #expect(throws: SystemError.self) { try serve(host) }
        host.disk.failsWrites = false
        try serve(host)
        #expect(ask(host, world) == "1")
    }

    @Test("a socket that cannot be made leaves no descriptor")
    func descriptors() throws {
        let world = World(seed: 1)
        let host = try world.addHost("host")
        host.maxDescriptors = 6
        let log = try UnixDatagramSocket.bind(path: "/run/log", on: host.loop)
        for _ in 0..<20 {
            #expect(throws: SystemError.self) { try UnixListener(path: "/run/log", on: host.loop) }
            #expect(throws: SystemError.self) { try UnixListener(path: "/none/x", on: host.loop) }
            #expect(throws: SystemError.self) {
                try UnixDatagramSocket.connect(path: "/run/none", from: "/run/x", on: host.loop)
            }
            #expect(throws: SystemError.self) {
                try UnixDatagramSocket.connect(path: "/run/none", on: host.loop)
            }
            #expect(ask(host, world) == "connect ENOENT unix:/run/server: no such file or directory")
            try world.run(for: .milliseconds(1))
        }
        #expect(host.disk.names(in: "/run") == ["log"])
        host.maxDescriptors = 1
        #expect(ask(host, world) == "connect EMFILE unix:/run/server: too many open files")
        withExtendedLifetime(log) {}
    }
}
