import Foundation
import FuturesTesting
import TLSStreams
import Testing

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
}
