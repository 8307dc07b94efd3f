public import ByteStreams

/// The error of a stream whose requests a ``RequestParser`` reads, and has refused.
public struct RefusedRequest: Error {
    public let reason: HTTPError
    /// Whether it is a `HEAD`, whose answer has no body.
    public let isHead: Bool
}

extension RequestParser: StreamDecoder {
    /// No limit: the parser has its own for lines and heads, and takes of a body what is there.
    public var maximumSize: Int { .max }

    /// Returns the next part of a request, or throws a ``RefusedRequest``.
    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        do {
            return try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
        } catch {
            throw RefusedRequest(reason: error, isHead: hasRefusedHead)
        }
    }
}

extension ResponseParser: StreamDecoder {
    /// No limit: the parser has its own for lines and heads, and takes of a body what is there.
    public var maximumSize: Int { .max }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
    }
}
