public import ByteStreams

extension RequestParser: StreamDecoder {
    /// Longer than any head or line that is let through: those have limits of their own.
    public var maximumSize: Int { limits.headBytes + limits.lineBytes + 2 }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
    }
}

extension ResponseParser: StreamDecoder {
    /// Longer than any head or line that is let through: those have limits of their own.
    public var maximumSize: Int { limits.headBytes + limits.lineBytes + 2 }

    public mutating func decode(_ bytes: RawSpan, isAtEnd: Bool) throws -> DecodedFrame<Part>? {
        try next(bytes).map { DecodedFrame($0.part, byteCount: $0.byteCount) }
    }
}
