import Foundation
import FuturesTesting
import TLSStreams
import Testing

struct TLSHandshakeTests {
    @Test("a handshake has a time limit, on both sides", arguments: [false, true])
    func timeLimit(isServer: Bool) throws {
        try withLoop { loop in
            loop.isTraced = true
            let (near, far) = try MemoryStream.pair(on: loop)
            let handshake =
                isServer
                ? far.startTLS(server: try loop.server())
                : far.startTLS(client: try loop.client(), host: "localhost")
            let names = loop.snapshot().items.map(\.text)
            #expect(names.contains { $0.hasPrefix("a TLS handshake over ") }, "\(names)")
            let error = loop.failure(of: handshake)
            #expect(
                "\(error!)"
                    == "TLS with MemoryStream: the handshake took longer than 10.0 seconds; raise its time limit, or "
                    + "look at the peer")
            #expect(loop.failure(of: near.readToEnd())?.isDisconnection == true)
        }
    }

    @Test("a connection to a server that does not answer gives up the handshake, and closes the socket")
    func silentServer() throws {
        try withLoop { loop in
            let listener = try TCPListener(host: "127.0.0.1", port: 0, on: loop)
            let (context, port) = (try loop.client(), listener.localAddress.port)
            let connecting = TLSConnection.connect(host: "127.0.0.1", port: port, context: context)
            let tcp = try loop.run(until: listener.accept())
            #expect("\(loop.failure(of: connecting)!)".contains("took longer than 10.0 seconds"))
            #expect(loop.failure(of: tcp.readToEnd())?.isDisconnection == true)
            try loop.run(until: listener.close())
        }
    }

    @Test("a handshake that is cancelled aborts the stream, at each of its steps")
    func cancelled() throws {
        try withLoop { loop in
            for steps in 0..<12 {
                let (near, far) = try MemoryStream.pair(on: loop)
                let server = far.startTLS(server: try loop.server())
                let client = near.startTLS(client: try loop.client(), host: "localhost")
                for _ in 0..<steps { loop.advance(by: .zero) }
                if client.isCompleted || server.isCompleted {
                    client.whenSuccess { $0.abort() }
                    server.whenSuccess { $0.abort() }
                } else {
                    client.cancel()
                    #expect(client.isCancelled)
                }
                server.ignoreFailure().whenSuccess { $0.abort() }
                loop.advance(by: .seconds(20))
                #expect(near.closed.isCompleted && far.closed.isCompleted)
            }
        }
    }

    @Test("a server chooses a context by the name, at once or later")
    func choice() throws {
        try withLoop { loop in
            let other = Authority.root.sign(Wish(commonName: "other", names: "DNS:other.org", serial: 4))
            let otherContext = try loop.server(TLSServerConfiguration(identity: other.identity()))
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { name in
                if name == "other.org" { return loop.sleep(for: .seconds(1)).map { otherContext } }
                return loop.succeeded(nil)
            }
            let context = try loop.server(configuration)
            for (host, subject) in [
                ("localhost", "CN=server"), ("other.org", "CN=other"), ("127.0.0.1", "CN=server"),
            ] {
                let pair = try loop.pair(context, host: host)
                #expect(pair.client.peerCertificate?.subject == subject)
                #expect(pair.server.serverName == (host == "127.0.0.1" ? nil : host))
                pair.client.write("hello\n")
                #expect(try loop.run(until: pair.server.readLine()) == Data("hello".utf8))
                try loop.close(pair)
            }
        }
    }

    @Test(
        "an address is compared with the certificate's without its zone",
        arguments: [
            ("fe80::1%lo", true), ("fe80::1%1", true), ("FE80:0::0:1%lo", true), ("fe80::1", true),
            ("127.0.0.1", true),
            ("fe80::2%lo", false), ("fe80::1%nowhere", false), ("127.0.0.1%lo", false),
        ])
    func zones(host: String, isValid: Bool) throws {
        try withLoop { loop in
            let wish = Wish(names: "IP:fe80::1,IP:127.0.0.1", serial: 5)
            let context = try loop.server(
                TLSServerConfiguration(identity: Authority.root.sign(wish).identity()))
            if isValid {
                let pair = try loop.pair(context, host: host)
                #expect(pair.server.serverName == nil)
                try loop.close(pair)
            } else {
                let (near, far) = try MemoryStream.pair(on: loop)
                far.startTLS(server: context).ignoreFailure()
                let error = loop.failure(of: near.startTLS(client: try loop.client(), host: host))
                #expect(error != nil)
                far.abort()
            }
        }
    }

    @Test("a context that is chosen brings its demands along")
    func choiceOfDemands() throws {
        try withLoop { loop in
            var strict = TLSServerConfiguration.usual
            strict.clientCertificates = .required
            strict.trust = .authorities([Authority.root.file])
            strict.parameters.versions = .tls12 ... .tls12
            strict.parameters.protocols = ["strict"]
            let strictContext = try loop.server(strict)
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in loop.succeeded(strictContext) }
            let context = try loop.server(configuration)
            #expect(reason(try loop.failures(context, try loop.client()).server) == .noCertificate)
            var client = TLSClientConfiguration.usual
            client.identity = Authority.client.identity()
            client.parameters.protocols = ["strict"]
            let pair = try loop.pair(context, try loop.client(client))
            #expect(pair.server.peerCertificate?.subject == "CN=client" && pair.server.version == .tls12)
            #expect(pair.server.applicationProtocol == "strict")
            try loop.close(pair)
        }
    }

    @Test("a choice that fails refuses the client", arguments: [false, true])
    func failedChoice(throwing: Bool) throws {
        struct Unknown: Error {}
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in
                if throwing { throw Unknown() }
                return loop.failed(Unknown())
            }
            let failures = try loop.failures(try loop.server(configuration), try loop.client())
            #expect(failures.server is Unknown)
            #expect(reason(failures.client) == .alert(.unrecognizedName))
        }
    }

    @Test("a choice that never comes ends with the time limit")
    func endlessChoice() throws {
        try withLoop { loop in
            var configuration = TLSServerConfiguration.usual
            configuration.chooseContext = { _ in loop.never() }
            let failures = try loop.failures(try loop.server(configuration), try loop.client())
            #expect(reason(failures.server) == .handshakeTimedOut)
        }
    }

    @Test("a peer that sends close_notify within a handshake has cut it", arguments: TLSVersion.allCases)
    func goodbye(version: TLSVersion) throws {
        try withLoop { loop in
            var configuration = TLSClientConfiguration.usual
            configuration.parameters.versions = version...version
            let hello = try greeting(of: loop.client(configuration))
            let (near, far) = try MemoryStream.pair(on: loop)
            let accepted = far.startTLS(server: try loop.server())
            near.write(hello)
            let answer = try loop.run(until: near.read())
            #expect(!answer.isEmpty)
            near.write(Data([21, 3, 3, 0, 2, 1, 0]))
            #expect(reason(loop.failure(of: accepted)) == .handshakeCut)
            near.abort()
        }
    }
}
