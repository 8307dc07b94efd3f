import Futures
import FuturesTesting
import Glibc
import Testing
import UVFutures

/// What waits for the system is called by name in a snapshot.
struct NamedWaitsTests {
    @Test("the exit of a program, its end with that of its group, and a signal have names")
    func names() throws {
        try withLoop(.virtual, ignoringUnhandled: true) { loop in
            loop.isTraced = true
            loop.simulatedPrograms["deaf"] = { process in
                process.signal(.terminate).flatMap { process.loop.never() }
            }
            let child = try ChildProcess.start(.init("deaf"), on: loop)
            loop.advance(by: .milliseconds(1))
            let process = "process \(child.id) (deaf)"
            let waits: [(String, () async throws -> Void)] = [
                ("for the exit of \(process)", { _ = try await child.exit.value }),
                ("for the exit of \(process)", { _ = try await child.end(within: .seconds(600)).value }),
                ("for signal \(SIGUSR2)", { try await loop.signal(.user2).value }),
            ]
            for (name, wait) in waits {
                let body = Future(on: loop, wait).ignoreFailure()
                loop.advance(by: .zero)
                #expect(loop.dump().contains(name), "\(loop.dump())")
                body.cancel()
                loop.advance(by: .zero)
            }
            #expect(loop.dump().contains("the exit of \(process) and its group"), "\(loop.dump())")
        }
    }

    @Test("the next element of a sequence of the system has a name", arguments: TestNetwork.allCases)
    func elements(network: TestNetwork) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            loop.isTraced = true
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let socket = try UDPSocket.bind(host: "127.0.0.1", port: 0, on: loop)
            let plain = PlainSocket.bound(backlog: 1)
            var watch: DescriptorWatch?
            var waits: [(String, () async throws -> Void)] = [
                (
                    "for a connection to \(listener.localAddress)",
                    { for try await _ in listener.connections {} }
                ), ("for a datagram of \(socket)", { for try await _ in socket.datagrams {} }),
            ]
            if network == .system {
                let made = try loop.watch(descriptor: plain.descriptor)
                waits.append(
                    (
                        "for an event of descriptor \(plain.descriptor)",
                        { for try await _ in made.events(.readable) {} }
                    ))
                watch = made
            }
            for (name, wait) in waits {
                let body = Future(on: loop, wait).ignoreFailure()
                settle(loop, network)
                #expect(loop.dump().contains(name), "\(loop.dump())")
                body.cancel()
                _ = loop.outcome(of: body)
            }
            if let watch { try loop.run(until: watch.close()) }
            try loop.run(until: listener.close().and(socket.close()).asVoid())
            withExtendedLifetime(plain) {}
        }
    }
}
