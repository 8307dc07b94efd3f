import FoundationEssentials
import Testing
import UVFutures

struct UnixServerTests: UsesUnixSockets {
    @Test(
        "a server at a path answers, says where it is, and takes its file with it",
        arguments: TestNetwork.allCases)
    func path(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let server = try UnixServer.listen(path: path, on: loop) { connection in
                #expect(connection.localAddress?.description == "unix:\(path)")
                #expect(connection.peerAddress?.description == "unix:unnamed")
                return echo(connection)
            }
            #expect(server.localAddress.path == path && !server.localAddress.isAbstract)
            #expect(server.localAddress.host.isEmpty && server.localAddress.port == 0)
            #expect(try answer("hello", at: path, loop) == "hello")
            try end(server, loop)
        }
    }

    @Test(
        "a server at a path has limits of accepting, too: what is over them waits in the backlog",
        arguments: TestNetwork.allCases)
    func accepting(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let limits = AcceptLimits(maxConnections: 1)
            var held: [UnixConnection] = []
            let servers = [
                try UnixServer.listen(path: directory + "/echo", accepting: limits, on: loop) { echo($0) },
                try UnixServer.listen(
                    path: directory + "/hold", accepting: limits, on: loop, owning: { held.append($0) }),
            ]
            for server in servers {
                let path = server.localAddress.path!
                let clients = try (0..<2).map { _ in
                    try loop.run(until: UnixConnection.connect(path: path, on: loop))
                }
                try loop.runUntil { server.statistics.pauses == 1 }
                #expect(server.activeConnections == 1)
                loop.closeAll([clients[0]] + held)
                try loop.runUntil { server.statistics.accepted == 2 }
                loop.closeAll([clients[1]] + held)
                try loop.runUntil { server.activeConnections == 0 }
                try end(server, loop)
            }
            let refused = AcceptLimits(maxConnections: 0)
            let sentence = "maxConnections must be at least 1, not 0; give nil for no limit"
            #expect(
                complaint {
                    _ = try UnixServer.listen(path: directory + "/echo", accepting: refused, on: loop) {
                        echo($0)
                    }
                } == sentence)
        }
    }

    @Test("bytes survive in both directions, in any amount", arguments: TestNetwork.allCases)
    func manyBytes(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let path = directory + "/echo"
            let server = try UnixServer.listen(path: path, on: loop) { echo($0) }
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 4) })
            let client = try loop.run(until: UnixConnection.connect(path: path, on: loop))
            let answer = client.readToEnd()
            client.write(bytes)
            client.shutdownWrite()
            #expect(try loop.run(until: answer) == bytes)
            try loop.run(until: client.close())
            try end(server, loop)
        }
    }
}
