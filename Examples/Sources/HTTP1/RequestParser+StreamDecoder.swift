public import ByteStreams

extension RequestParser: StreamDecoder {
    /// No limit: the parser has its own for lines and heads, and takes of a body what is there.
    public var maximumSize: Int { .max }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
    }
}

extension ResponseParser: StreamDecoder {
    /// No limit: the parser has its own for lines and heads, and takes of a body what is there.
    public var maximumSize: Int { .max }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
    }
}
