import ArgumentParser
import HTTP1
import ServerSupport
import TLSStreams

/// How much a client may send, and how long it may take.
struct MessageLimits: ParsableArguments {
    @Option(parsing: .unconditional, help: "How many bytes a body may have.")
    var maxBody = 1_048_576

    @Option(
        parsing: .unconditional,
        help: "How many bytes a head may have. Each of its lines may have a quarter of that.")
    var maxHead = 32_768

    @Option(
        parsing: .unconditional,
        help: "How many seconds a head may take, and a body besides one second for every 4096 bytes.")
    var requestTimeout = 30.0

    @Option(parsing: .unconditional, help: "After how many seconds without a byte a connection is closed.")
    var idleTimeout = 75.0

    @Option(parsing: .unconditional, help: "How many seconds a client may take none of what it is sent.")
    var writeTimeout = 30.0

    func validate() throws {
        try checkTimeLimits(
            ("a request timeout", requestTimeout), ("an idle timeout", idleTimeout),
            ("a write timeout", writeTimeout))
        guard (0...1 << 40).contains(maxBody) else {
            throw ValidationError("a body of \(maxBody) bytes makes no sense; give 0 to \(1 << 40)")
        }
        guard (256...1 << 20).contains(maxHead) else {
            throw ValidationError("a head of \(maxHead) bytes makes no sense; give 256 to \(1 << 20)")
        }
    }

    var http: HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyBytes = maxBody
        limits.headBytes = maxHead
        limits.lineBytes = maxHead / 4
        return limits
    }

    var stream: StreamLimits {
        var limits = StreamLimits()
        limits.framingTimeout = .seconds(requestTimeout)
        limits.idleTimeout = .seconds(idleTimeout)
        limits.writeTimeout = .seconds(writeTimeout)
        return limits
    }
}
