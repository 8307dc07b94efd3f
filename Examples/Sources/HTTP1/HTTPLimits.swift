/// The most that a message may have. A message that has more is refused: see ``HTTPError``.
///
/// How long a message may take is a limit of the connection.
public struct HTTPLimits: Hashable, Sendable {
    /// The bytes of one line, without its end: of the first line, of a field, or of the size of a chunk.
    public var lineBytes = 8192
    /// The fields of the head, and those behind a chunked body.
    public var fields = 100
    /// The bytes of the head as a whole, and of the fields behind a chunked body. No fewer than ``lineBytes``.
    public var headBytes = 32_768
    /// The bytes of the body, without what chunks add.
    public var bodyBytes = 1_048_576
    /// The bytes that the extensions of all chunks of a body may have together.
    public var chunkExtensionBytes = 4096

    public init() {}
}
