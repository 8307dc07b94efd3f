import ArgumentParser
import TLSStreams

/// How the target proves itself.
struct TargetEncryption: ParsableArguments {
    @Flag(help: "Speak TLS with the target.")
    var tlsTarget = false

    @Option(
        name: .customLong("tls-target-ca"),
        help: "A PEM file with the authorities that the target's certificate may be of; the system's unless given.")
    var tlsTargetCA: String?

    @Option(help: "The host name that the target's certificate has to be valid for; the target's own unless given.")
    var tlsTargetName: String?

    /// Throws if the flags do not fit each other or the target.
    func check(_ target: Target) throws {
        guard tlsTarget || tlsTargetCA == nil && tlsTargetName == nil else {
            throw ValidationError("--tls-target-ca and --tls-target-name need --tls-target")
        }
        guard !tlsTarget || name(of: target) != nil else {
            throw ValidationError("--tls-target and a path need --tls-target-name")
        }
    }

    /// The host name or the address that the certificate of `target` has to be valid for.
    func name(of target: Target) -> String? {
        if let tlsTargetName { return tlsTargetName }
        guard case .tcp(let host, _) = target else { return nil }
        return host
    }

    /// The context for connections to the target. `nil` if they are plain.
    func context(on loop: EventLoop) throws -> TLSContext? {
        guard tlsTarget else { return nil }
        var configuration = TLSClientConfiguration()
        if let tlsTargetCA { configuration.trust = .authorities([.path(tlsTargetCA)]) }
        return try TLSContext.client(configuration, on: loop)
    }
}
