import FoundationEssentials
import Testing
import UVFutures

struct AcceptedSocketTests: UsesUnixSockets {
    @Test(
        "one server listens on TCP and at a path, and tells by the address what came",
        arguments: TestNetwork.allCases)
    func mixed(network: TestNetwork) throws {
        try withDirectory(network) { directory, loop in
            let server = SocketServer<SocketConnection>(on: loop) { connection -> Future<Int> in
                connection.write(connection is UnixConnection ? "unix " : "tcp ")
                return connection.pipe(to: connection)
            }
            let tcp = try server.listen(host: "127.0.0.1", port: 0)
            try server.listen(path: directory + "/echo")
            #expect(try answer("x", at: directory + "/echo", loop) == "unix x")
            let client = try loop.connect(to: tcp)
            client.write("x")
            client.shutdownWrite()
            #expect(try loop.run(until: client.readToEnd()) == Data("tcp x".utf8))
            try loop.run(until: client.close())
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }
}
