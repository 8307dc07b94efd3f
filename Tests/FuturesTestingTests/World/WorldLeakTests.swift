import FoundationEssentials
import FuturesTesting
import Glibc
import Synchronization
import TestSupport
import Testing
import UVFutures

struct WorldLeakTests {
    /// Counts the objects of its kind that are alive.
    private final class Witness: Sendable {
        let alive: Atomic<Int>.Counter

        init(_ alive: Atomic<Int>.Counter) {
            self.alive = alive
            alive.add(1)
        }

        deinit { alive.add(-1) }
    }

    private struct Weak<Object: AnyObject> {
        weak var object: Object?
    }

    // In a process of its own, since other tests open and close descriptors.
    @Test("a thousand worlds that are dropped in the midst of work leave nothing")
    func dropped() async {
        await #expect(processExitsWith: .success) {
            let before = openDescriptors()
            try Self.dropWorlds(isDebug ? 100 / UInt64(slowShare) : 1000)
            // The process itself opens a few of Dispatch's meanwhile. One for each world would be more.
            #expect(openDescriptors() < before + 10)
        }
    }

    private static func dropWorlds(_ count: UInt64) throws {
        let witnesses = Atomic<Int>.Counter()
        var loops: [EventLoop] = []
        var hosts: [Weak<SimulatedHost>] = []
        for seed in 0..<count {
            let world = World(seed: seed)
            for name in ["a", "b", "c"] {
                let witness = Witness(witnesses)
                try world.addHost(name) { host in
                    let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) { connection in
                        _ = witness
                        return connection.forEachChunk { chunk in connection.write(chunk) }
                    }
                    server.onConnectionError = { _ in }
                    let group = try TCPServerGroup.listen(
                        host: "0.0.0.0", port: 8, loops: 2, on: host.loop,
                        awaiting: { connection in
                            for try await _ in connection.chunks { _ = witness }
                        })
                    if name == "c" { group.drain(within: .seconds(1), on: host.loop).ignoreFailure() }
                    let (input, output) = (try host.loop.standardInput(), try host.loop.standardOutput())
                    input.pipe(to: output).ignoreFailure()
                    host.standardInput.write(Data(count: 200_000))
                    let unix = try UnixListener(path: "/run/\(name)", on: host.loop)
                    Future<Void>(on: host.loop) {
                        for try await connection in unix.connections { connection.abort() }
                    }.ignoreFailure()
                    host.loop.repeat(every: .milliseconds(50)) { [unowned host] in
                        _ = witness
                        Programs.ask(host, "b", line: String(repeating: "x", count: 10_000)).ignoreFailure()
                        UnixConnection.connect(path: "/run/\(name)", on: host.loop).ignoreFailure()
                        TCPConnection.connect(host: "b", port: 8, on: host.loop).whenSuccess { connection in
                            connection.write("x").whenSuccess { connection.close() }
                        }
                    }.future.ignoreFailure()
                }
            }
            var mix = World.FaultMix()
            mix.kinds.removeAll { $0 == .outOfDescriptors }
            world.injectFaults(mix, until: .seconds(1))
            try world.run(for: .milliseconds(Int(seed) * 7 % 1000))
            if seed.isMultiple(of: 2) { world.host("a").crash() }
            hosts += world.hosts.map { Weak(object: $0) }
            loops = world.hosts.filter { !$0.isDown }.map(\.loop)
        }
        #expect(witnesses.value == 0)
        for loop in loops {
            #expect([loop.statistics.futures, loop.statistics.handles, loop.statistics.timers] == [0, 0, 0])
        }
        loops = []
        #expect(hosts.count { $0.object != nil } == 0)
    }
}

private func openDescriptors() -> Int { (0..<CInt(4096)).count { fcntl($0, F_GETFD) >= 0 } }

extension Atomic where Value == Int {
    /// A count that several objects share.
    final class Counter: Sendable {
        private let count = Atomic(0)

        func add(_ change: Int) { count.add(change, ordering: .relaxed) }

        var value: Int { count.load(ordering: .relaxed) }
    }
}
