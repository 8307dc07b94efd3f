import CFuturesSystem
import CLibUV
import FoundationEssentials
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct UnixConnectionTests: UsesUnixSockets {
    @Test("each end knows which process the other is", arguments: TestNetwork.allCases)
    func credentials(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let server = try loop.run(until: listener.accept())
            for connection in [client, server] {
                let peer = try connection.peerCredentials
                #expect(peer.processID == getpid() && peer.userID == getuid() && peer.groupID == getgid())
            }
            client.abort()
            #expect(throws: StreamError.connectionClosed) { try client.peerCredentials }
            try loop.run(until: server.close().and(listener.close()).map { _ in })
        }
    }

    @Test(
        "a client waits for room in the backlog, until its time is up or it is cancelled",
        arguments: TestNetwork.allCases)
    func fullBacklog(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, options: ListenOptions(backlog: 0), on: loop)
            let first = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let second = UnixConnection.connect(path: path, timeout: .milliseconds(20), on: loop)
            #expect("\(loop.failure(of: second)!)" == "connect ETIMEDOUT unix:\(path): connection timed out")
            if network == .virtual {
                loop.isTraced = true
                let start = loop.now
                let body = Future(on: loop) {
                    _ = try await UnixConnection.connect(path: path, on: loop).value
                }
                loop.advance(by: .zero)
                #expect(loop.dump().contains("for a connection to unix:\(path)"))
                #expect((loop.failure(of: body) as? SystemError)?.code == .timedOut)
                #expect(start.duration(to: loop.now) == .seconds(10))
            }
            let third = UnixConnection.connect(path: path, on: loop)
            let fourth = UnixConnection.connect(path: path, on: loop)
            #expect(third.cancel())
            let accepted = try loop.run(until: listener.accept())
            let late = try loop.run(until: fourth)
            let last = try loop.run(until: listener.accept())
            loop.closeAll(first, accepted, late, last)
            try loop.run(until: listener.close())
        }
    }

    @Test("a shutdown of the loop ends the wait for room in the backlog", arguments: TestNetwork.allCases)
    func shutdown(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let listener = try UnixListener(path: path, options: ListenOptions(backlog: 0), on: loop)
            let first = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let second = UnixConnection.connect(path: path, on: loop).ignoreFailure()
            try loop.run(for: .milliseconds(1))
            #expect(!second.isCompleted)
            loop.shutdown()
            #expect(second.result?.failureText == "\(FutureError.shutDown)")
            withExtendedLifetime((listener, first)) {}
        }
    }

    @Test("a peer that goes while reading is paused costs no turns", arguments: TestNetwork.allCases)
    func pausedHangUp(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            var limits = StreamLimits()
            limits.readHighWaterMark = 1
            limits.readLowWaterMark = 0
            let listener = try UnixListener(path: path, options: ListenOptions(limits: limits), on: loop)
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let server = try loop.run(until: listener.accept())
            client.write("first")
            _ = try loop.run(until: server.read())
            client.write("second")
            let ticks = loop.repeat(every: .milliseconds(1)) {}
            try loop.run(until: client.close(within: .zero))
            try loop.run(until: loop.sleep(for: .milliseconds(5)))
            let before = loop.statistics.turns
            try loop.run(until: loop.sleep(for: .milliseconds(20)))
            #expect(loop.statistics.turns - before < 200)
            ticks.cancel()
            #expect(try loop.run(until: server.readToEnd()) == Data("second".utf8))
            try loop.run(until: server.close().and(listener.close()).map { _ in })
        }
    }

    @Test("a connected socket is taken over, and what is none is refused and stays open")
    func adoptConnection() throws {
        try withLoop { loop in
            var ends: [CInt] = [0, 0]
            try #require(
                unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            let connections = try ends.map { try UnixConnection(adopting: $0, on: loop) }
            #expect("\(connections[0])".hasSuffix(" (unix:unnamed – unix:unnamed)"))
            connections[0].write("hello")
            #expect(try loop.run(until: connections[1].read()) == Data("hello".utf8))
            let released = try connections[1].release()
            let again = try UnixConnection(adopting: released, on: loop)
            again.write("back")
            #expect(try loop.run(until: connections[0].read()) == Data("back".utf8))
            loop.closeAll(connections[0], again)

            func refusal(_ descriptor: CInt) -> String? {
                defer { #expect(descriptor < 0 || close(descriptor) == 0) }
                let text = complaint { _ = try UnixConnection(adopting: descriptor, on: loop) }
                return text?.replacing("descriptor \(descriptor)", with: "D")
            }
            #expect(refusal(-1) == "D is not open; give one that is")
            #expect(
                refusal(unsafe open("/dev/null", O_RDWR))
                    == "D is not a socket of the UNIX domain; give one that is connected")
            #expect(
                refusal(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
                    == "D is not a socket of the UNIX domain; give one that is connected")
            #expect(
                refusal(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0))
                    == "D is a socket that is not connected; connect it before")
        }
    }
}
