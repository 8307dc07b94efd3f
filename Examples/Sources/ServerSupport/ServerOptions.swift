public import ArgumentParser

/// Where a server listens, and how it ends.
public struct ServerOptions: ParsableArguments, Sendable {
    @Option(help: "The address to listen on: a numeric one, or localhost.")
    public var host = "127.0.0.1"

    @Option(
        parsing: .unconditional,
        help: "How many seconds open connections have to finish after a signal. A second signal means now.")
    public var grace = 5.0

    public init() {}

    public func validate() throws {
        guard (0...86_400).contains(grace) else {
            throw ValidationError("a grace of \(grace) seconds makes no sense; give 0 to 86400")
        }
    }
}
