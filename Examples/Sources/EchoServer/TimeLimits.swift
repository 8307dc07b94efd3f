import ArgumentParser
import ServerSupport
import TLSStreams

/// What the server does about clients that are slow, silent or gone.
struct TimeLimits: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: "After how many seconds without a byte a connection is closed; never unless given.")
    var idleTimeout: Double?

    @Option(
        parsing: .unconditional,
        help: "How many seconds the first bytes may take; any time unless given, 10 for a handshake of TLS.")
    var handshakeTimeout: Double?

    @Option(parsing: .unconditional, help: "How many seconds a line that has begun may take to be complete.")
    var framingTimeout = 30.0

    @Option(parsing: .unconditional, help: "How many seconds a client may take none of what it is sent.")
    var writeTimeout = 30.0

    @Option(
        parsing: .unconditional, help: "After how many silent seconds a client is probed; never unless given."
    )
    var keepAlive: Double?

    @Option(
        parsing: .unconditional,
        help: "How many seconds what was sent may stay unacknowledged; the system's limit unless given.")
    var userTimeout: Double?

    func validate() throws {
        try checkTimeLimits(
            ("an idle timeout", idleTimeout), ("a handshake timeout", handshakeTimeout),
            ("a framing timeout", framingTimeout), ("a write timeout", writeTimeout),
            ("a keep-alive", keepAlive), ("a user timeout", userTimeout))
    }

    var streamLimits: StreamLimits {
        var limits = StreamLimits()
        limits.idleTimeout = idleTimeout.map { .seconds($0) }
        limits.handshakeTimeout = handshakeTimeout.map { .seconds($0) }
        limits.framingTimeout = .seconds(framingTimeout)
        limits.writeTimeout = .seconds(writeTimeout)
        return limits
    }

    func apply(to connection: ByteStream) throws {
        let socket = (connection as? TLSConnection)?.underlying ?? connection
        guard let connection = socket as? TCPConnection else { return }
        if let keepAlive { try connection.setKeepAlive(after: .seconds(keepAlive)) }
        if let userTimeout { try connection.setUserTimeout(.seconds(userTimeout)) }
    }
}
