import CFuturesTLS
import Foundation
import FuturesTesting
import Synchronization
import Testing
import UVFutures

@testable import TLSStreams

struct TLSSignatureRequestTests {
    enum Kind: String, CaseIterable, Codable, CustomTestStringConvertible {
        case ec, rsa

        var testDescription: String { rawValue }
        var authority: Authority { self == .ec ? .server : .rsaServer }
    }

    @Test(
        "a key that is elsewhere signs for a server and for a client, once in a full handshake",
        arguments: [TLSVersion.tls12, .tls13], Kind.allCases)
    func signing(version: TLSVersion, kind: Kind) throws {
        let authority = kind.authority
        try withLoop { loop in
            var requests: [TLSSignatureRequest] = []
            let identity = TLSIdentity(certificates: authority.file) { request in
                requests.append(request)
                return loop.sleep(for: .seconds(1)).map { authority.sign(request) }
            }
            var (server, client) = (TLSServerConfiguration.usual, TLSClientConfiguration.usual)
            (server.identity, client.identity) = (identity, identity)
            server.parameters.versions = version...version
            server.clientCertificates = .required
            server.trust = .authorities([Authority.root.file])
            let (serverContext, clientContext) = try (loop.server(server), loop.client(client))
            for expected in [2, 2] {
                let pair = try loop.pair(serverContext, clientContext)
                pair.client.write("hello\n")
                #expect(try loop.run(until: pair.server.readLine()) == Data("hello".utf8))
                pair.server.write("hello\n")
                #expect(try loop.run(until: pair.client.readLine()) == Data("hello".utf8))
                #expect(pair.server.peerCertificate?.subject == "CN=server")
                try loop.close(pair)
                // The second connection resumes the session of the first.
                #expect(requests.count == expected)
            }
            let isRSA = kind == .rsa
            #expect(requests.allSatisfy { $0.algorithm == (isRSA ? .rsaPSS : .ecdsa) && $0.hash == .sha256 })
            #expect(requests.allSatisfy { $0.certificate.der == authority.der })
            let context = Data("TLS 1.3, server CertificateVerify".utf8)
            #expect(requests.contains { $0.bytes.range(of: context) != nil } == (version == .tls13))
        }
    }

    @Test(
        "each algorithm and hash that a peer of TLS 1.2 may ask for",
        arguments: zip(
            [
                "ECDSA+SHA224", "ECDSA+SHA384", "ECDSA+SHA512", "RSA+SHA256", "RSA+SHA512",
                "rsa_pss_rsae_sha384",
            ],
            [
                (.ecdsa, .sha224), (.ecdsa, .sha384), (.ecdsa, .sha512), (.rsaPKCS1, .sha256),
                (.rsaPKCS1, .sha512),
                (.rsaPSS, .sha384),
            ] as [(TLSSignatureRequest.Algorithm, TLSSignatureRequest.Hash)]))
    func algorithms(name: String, expected: (TLSSignatureRequest.Algorithm, TLSSignatureRequest.Hash)) throws
    {
        try withLoop(.system) { loop in
            let authority = expected.0 == .ecdsa ? Authority.server : .rsaServer
            var asked: TLSSignatureRequest?
            var server = TLSServerConfiguration.usual
            server.identity = TLSIdentity(certificates: authority.file) { request in
                asked = request
                return loop.succeeded(authority.sign(request))
            }
            server.parameters.versions = .tls12 ... .tls12
            let listener = try TLSServer.listen(host: "127.0.0.1", port: 0, context: try loop.server(server))
            {
                $0.close()
            }
            let client = ChildProcess.Configuration(
                "/bin/sh", "-c",
                "exec openssl s_client -connect 127.0.0.1:\(listener.localAddress.port) -tls1_2 -sigalgs \(name) 2>&1"
            )
            let said = try loop.run(until: ChildProcess.run(client, timeout: .seconds(60), on: loop))
            #expect(
                listener.handshakes.completed == 1, "\(String(decoding: said.standardOutput, as: UTF8.self))")
            _ = try loop.run(until: listener.shutdown(within: .seconds(1)))
            #expect(asked?.algorithm == expected.0 && asked?.hash == expected.1)
            // The key of a file signs the same, and complains of what it cannot sign.
            let request = try #require(asked)
            let key = try PrivateKey(.pem(Data(authority.key.pem.utf8)), nil)
            let signature = try key.sign(request)
            #expect(expected.0 == .rsaPKCS1 ? signature == authority.sign(request) : !signature.isEmpty)
            if expected.0 == .rsaPSS {
                let other = try PrivateKey(.pem(Data(Authority.server.key.pem.utf8)), nil)
                #expect(
                    complaint { _ = try other.sign(request) }
                        == "OpenSSL cannot sign with the key of “CN=server”; look at its size and its kind")
            }
        }
    }

    /// What a closure does that does not sign, what is said of it, and what the peer hears.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let sign: @Sendable (EventLoop, Data) throws -> Future<Data>

        struct Locked: Error, CustomStringConvertible {
            var description: String { "the safe is locked" }
        }

        static let all = [
            Fault(testDescription: "throws", text: "the safe is locked") { _, _ in throw Locked() },
            Fault(testDescription: "fails", text: "the safe is locked") { loop, _ in loop.failed(Locked()) },
            Fault(testDescription: "fails later", text: "the safe is locked") { loop, _ in
                loop.sleep(for: .seconds(1)).flatMap { loop.failed(Locked()) }
            },
            Fault(testDescription: "nothing", text: "a signature of 0 bytes does not fit the key") {
                loop, _ in
                loop.succeeded(Data())
            },
            Fault(testDescription: "too much", text: "a signature of 999 bytes does not fit the key") {
                loop, _ in
                loop.succeeded(Data(count: 999))
            },
            Fault(testDescription: "too little", text: "a signature of 255 bytes does not fit the key") {
                loop, signature in loop.succeeded(signature.prefix(255))
            },
        ]
    }

    @Test(
        "a closure that does not sign fails the handshake, and the peer is told", arguments: Fault.all,
        [TLSVersion.tls12, .tls13])
    func faults(fault: Fault, version: TLSVersion) throws {
        try withLoop { loop in
            let authority = Authority.rsaServer
            var server = TLSServerConfiguration.usual
            server.parameters.versions = version...version
            server.identity = TLSIdentity(certificates: authority.file) { request in
                try fault.sign(loop, authority.sign(request))
            }
            let failures = try loop.failures(try loop.server(server), try loop.client())
            #expect(
                "\(failures.server!)"
                    == "TLS with MemoryStream: no signature was made for the certificate of “CN=server” of "
                    + "this side (\(fault.text)); look at the closure that signs")
            #expect(reason(failures.server) == .notSigned)
            #expect(reason(failures.client) == .alert(.internalError), "\(failures)")
        }
    }

    @Test("a signature of another key is refused by the peer")
    func wrongKey() throws {
        try withLoop { loop in
            let other = TestKey()
            var server = TLSServerConfiguration.usual
            server.identity = TLSIdentity(certificates: Authority.server.file) { request in
                loop.succeeded(other.sign(request))
            }
            let failures = try loop.failures(try loop.server(server), try loop.client())
            #expect(reason(failures.server) == .alert(.decryptError), "\(failures)")
            #expect(reason(failures.client) == .protocolViolation, "\(failures)")
        }
    }

    @Test("a handshake that ends while its signature is under way cancels that, and frees everything")
    func ends() throws {
        try withLoop { loop in
            var signatures: [Future<Data>] = []
            var server = TLSServerConfiguration.usual
            server.identity = TLSIdentity(certificates: Authority.server.file) { _ in
                let signature = loop.never(of: Data.self)
                signatures.append(signature)
                return signature
            }
            let context = try loop.server(server)
            for end in ["cancelled", "timed out", "peer gone", "peer reset"] {
                let (near, far) = try MemoryStream.pair(on: loop)
                let accepted = far.startTLS(server: context)
                let client = near.startTLS(client: try loop.client(), host: "localhost")
                loop.advance(by: .seconds(1))
                let signature = try #require(signatures.last)
                #expect(!signature.isCompleted && !accepted.isCompleted)
                switch end {
                case "cancelled": accepted.cancel()
                case "timed out": break
                case "peer gone": client.cancel()
                default: near.abort()
                }
                client.ignoreFailure()
                let error = loop.failure(of: accepted)
                switch end {
                case "cancelled": #expect(accepted.isCancelled)
                case "timed out": #expect(reason(error) == .handshakeTimedOut)
                default: #expect(error != nil)
                }
                loop.advance(by: .seconds(20))
                #expect(signature.isCancelled, "\(end)")
                #expect(near.closed.isCompleted && far.closed.isCompleted)
            }
        }
    }

    @Test("while a signature is made elsewhere, the loop serves others", arguments: Kind.allCases)
    func context(kind: Kind) throws {
        let authority = kind.authority
        try withLoop { loop in
            let jobs = Mutex<[@Sendable () -> Void]>([])
            let context = RemoteContext.custom { job in jobs.withLock { $0.append(job) } }
            var server = TLSServerConfiguration.usual
            server.identity = TLSIdentity(
                certificates: authority.file, key: .pem(Data(authority.key.pem.utf8)), signingOn: context)
            let (near, far) = try MemoryStream.pair(on: loop)
            let accepted = far.startTLS(server: try loop.server(server))
            let client = near.startTLS(client: try loop.client(), host: "localhost")
            let other = try loop.pair()
            other.client.write("hello\n")
            #expect(try loop.run(until: other.server.readLine()) == Data("hello".utf8))
            try loop.close(other)
            #expect(!accepted.isCompleted && !client.isCompleted)
            for job in jobs.withLock({ $0 }) { job() }
            try loop.close(Pair(client: try loop.run(until: client), server: try loop.run(until: accepted)))
        }
    }

    @Test("the pool of the loop signs", arguments: TestNetwork.allCases, Kind.allCases)
    func pool(network: TestNetwork, kind: Kind) throws {
        let authority = kind.authority
        try withLoop(network) { loop in
            var server = TLSServerConfiguration.usual
            server.identity = TLSIdentity(
                certificates: authority.file, key: .pem(Data(authority.key.pem.utf8)), signingOn: .pool)
            let context = try loop.server(server)
            for _ in 0..<3 { try loop.close(try loop.pair(context)) }
        }
    }

    @Test("a certificate of another kind of key is refused with a sentence")
    func otherKinds() throws {
        try withLoop { loop in
            let authority = Authority.root.sign(Wish(), key: .edwards)
            let identity = TLSIdentity(certificates: authority.file) { _ in loop.never() }
            #expect(
                complaint { _ = try loop.server(TLSServerConfiguration(identity: identity)) }
                    == "the certificate of “CN=server” has a key that cannot be external; give a "
                    + "certificate with an RSA or EC key")
        }
    }
}

extension TestKey {
    func sign(_ request: TLSSignatureRequest) -> Data {
        let algorithm =
            switch request.algorithm {
            case .ecdsa: TLS_ECDSA
            case .rsaPKCS1: TLS_RSA_PKCS1
            case .rsaPSS: TLS_RSA_PSS
            }
        var wasAsked = false
        let key = unsafe pem.withCString { text in
            let bio = unsafe tls_open_bytes(text, strlen(text))
            defer { unsafe BIO_free(bio) }
            return unsafe tls_private_key(bio, nil, 0, &wasAsked)
        }
        defer { unsafe EVP_PKEY_free(key) }
        var signature = Data(count: 512)
        let count = unsafe signature.withUnsafeMutableBytes { room in
            unsafe request.bytes.withUnsafeBytes { bytes in
                unsafe tls_sign(
                    key, algorithm, CInt(request.hash.rawValue), bytes.baseAddress, bytes.count,
                    room.baseAddress, room.count)
            }
        }
        return signature.prefix(count)
    }
}

extension Authority {
    static let rsaServer = root.sign(Wish(), key: .rsa)

    func sign(_ request: TLSSignatureRequest) -> Data { key.sign(request) }
}
