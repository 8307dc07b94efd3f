import Foundation
import FuturesTesting
import TLSStreams
import TestSupport
import Testing
import UVFutures

struct TLSContextTests {
    @Test("a certificate that is reloaded serves later connections, and open ones go on")
    func reload() throws {
        try withLoop { loop in
            let context = try loop.server()
            let before = try loop.pair(context)
            let renewed = Authority.root.sign(Wish(commonName: "renewed", serial: 8))
            try context.reload(TLSServerConfiguration(identity: renewed.identity()))
            #expect(context.certificate?.subject == "CN=renewed")
            let after = try loop.pair(context)
            #expect(before.client.peerCertificate?.subject == "CN=server")
            #expect(after.client.peerCertificate?.subject == "CN=renewed")
            before.client.write("hello\n")
            #expect(try loop.run(until: before.server.readLine()) == Data("hello".utf8))
            try loop.close(before)
            try loop.close(after)
        }
    }

    @Test("protocols above are agreed on in the order of the server")
    func protocols() throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.parameters.protocols = ["h2", "http/1.1"]
            client.parameters.protocols = ["http/1.1", "h2"]
            let context = try loop.server(server)
            let pair = try loop.pair(context, try loop.client(client))
            #expect(pair.client.applicationProtocol == "h2" && pair.server.applicationProtocol == "h2")
            try loop.close(pair)
            let without = try loop.pair(context)
            #expect(without.server.applicationProtocol == nil)
            try loop.close(without)
            for name in ["x", String(repeating: "y", count: 255)] {
                (server.parameters.protocols, client.parameters.protocols) = ([name], [name])
                let pair = try loop.pair(loop.server(server), loop.client(client))
                #expect(pair.client.applicationProtocol == name && pair.server.applicationProtocol == name)
                try loop.close(pair)
            }
        }
    }

    @Test("clients are asked for certificates, and may or must send one")
    func clientCertificates() throws {
        try withLoop { loop in
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            server.trust = .authorities([Authority.root.file])
            server.clientCertificates = .requested
            let context = try loop.server(server)
            let without = try loop.pair(context)
            #expect(without.server.peerCertificate == nil)
            try loop.close(without)
            client.identity = Authority.client.identity()
            server.clientCertificates = .required
            for context in [context, try loop.server(server)] {
                let pair = try loop.pair(context, try loop.client(client))
                #expect(pair.server.peerCertificate?.subject == "CN=client")
                try loop.close(pair)
            }
        }
    }

    @Test("reloads under load fail no handshake and end no connection")
    func reloadsUnderLoad() throws {
        let count = isSoaking ? 1000 : 30
        try withLoop(.system) { loop in
            let identities = [Authority.server.identity(), Authority.root.sign(Wish(), key: .rsa).identity()]
            let server = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server()) {
                connection in
                connection.forEachChunk { connection.write($0) }
            }
            var clientConfiguration = TLSClientConfiguration.usual
            clientConfiguration.resumesSessions = false
            let contexts = try [loop.client(), loop.client(clientConfiguration)]
            func connect(_ number: Int) -> Future<TLSConnection> {
                TLSConnection.connect(
                    host: "localhost", port: server.localAddress.port, context: contexts[number % 2])
            }
            func echo(_ connection: TLSConnection) -> Future<Void> {
                connection.write("hello\n")
                return connection.readLine().map { line in #expect(line == Data("hello".utf8)) }
            }
            var (reloads, shortLived, echoes) = (0, 0, 0)
            let open = try (0..<4).map { try loop.run(until: connect($0)) }
            func shake() -> Future<Void> {
                guard reloads < count else { return loop.succeeded() }
                return connect(shortLived).flatMap { connection in
                    echo(connection).flatMap { connection.close() }
                }
                .flatMap { _ in
                    shortLived += 1
                    return shake()
                }
            }
            func talk(_ connection: TLSConnection) -> Future<Void> {
                guard reloads < count else { return connection.close() }
                return echo(connection).flatMap { _ in
                    echoes += 1
                    return talk(connection)
                }
            }
            let load = open.map(talk) + (0..<3).map { _ in shake() }
            while reloads < count {
                try loop.run(until: loop.sleep(for: .milliseconds(1)))
                try server.context.reload(TLSServerConfiguration(identity: identities[reloads % 2]))
                reloads += 1
            }
            for future in load { try loop.run(until: future) }
            #expect(server.handshakes.failed.isEmpty && server.handshakes.otherwiseFailed == 0)
            #expect(shortLived > 0 && echoes > 0 && server.handshakes.completed == shortLived + open.count)
            _ = try loop.run(until: server.shutdown(within: .seconds(5)))
        }
    }
}
