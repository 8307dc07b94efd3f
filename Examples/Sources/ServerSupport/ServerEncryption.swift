public import ArgumentParser
import ExampleSupport
import Foundation
import TLSStreams

/// The files with which a server proves itself to its clients, and those that clients prove themselves with.
public struct ServerEncryption: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "A PEM file with the server's certificate, and those between it and an authority.",
            discussion: "With it, clients have to speak TLS. SIGHUP reads the files again."))
    public var tlsCertificate: String?

    @Option(help: "A PEM file with the private key of --tls-certificate.")
    public var tlsKey: String?

    @Option(
        name: .customLong("tls-client-ca"),
        help:
            "A PEM file with authorities: each client has to have a certificate that one of them has signed.")
    public var tlsClientCA: String?

    public init() {}

    public func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together; give both or neither")
        }
        guard tlsClientCA == nil || tlsCertificate != nil else {
            throw ValidationError(
                "--tls-client-ca needs a server that speaks TLS; give --tls-certificate too")
        }
    }

    /// Whether clients have to speak TLS.
    public var isWanted: Bool { tlsCertificate != nil }

    /// Reads the files, and returns the context for connections of clients. `nil` if they speak no TLS.
    public func context(on loop: EventLoop) throws -> TLSContext? {
        guard let tlsCertificate, let tlsKey else { return nil }
        let identity = TLSIdentity(certificates: .path(tlsCertificate), key: .path(tlsKey))
        var configuration = TLSServerConfiguration(identity: identity)
        if let tlsClientCA {
            configuration.clientCertificates = .required
            configuration.trust = .authorities([.path(tlsClientCA)])
        }
        return try TLSContext.server(configuration, on: loop)
    }
}

extension TLSContext {
    /// Reads the files again whenever SIGHUP comes, and says what became of it.
    public func reloadAtHangup() {
        Future<Void>(on: loop) {
            for try await _ in self.loop.signals(.hangup) {
                do {
                    try self.reload()
                    let certificate = self.certificate
                    let end = certificate?.notAfter.formatted(.iso8601) ?? ""
                    say(
                        "new connections get the certificate \(certificate?.serialNumber ?? ""), valid until \(end)"
                    )
                } catch {
                    say("the certificate stays as it was: \(error)")
                }
            }
        }
        .ignoreFailure()
    }
}
