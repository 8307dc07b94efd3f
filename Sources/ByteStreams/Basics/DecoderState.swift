/// A decoder in use, and the frame that it has found and that nobody has taken yet.
@usableFromInline
final class DecoderState<Decoder: StreamDecoder> {
    // Unchecked, since each use would be checked at run time. A decoder has no other way to its own state.
    @exclusivity(unchecked) @usableFromInline var decoder: Decoder
    @exclusivity(unchecked) @usableFromInline var frame: Decoder.Frame?

    @inlinable
    init(_ decoder: Decoder) { unsafe self.decoder = decoder }

    @inlinable var maximumSize: Int { unsafe decoder.maximumSize }

    /// Finds the frame at the start of `bytes`, and returns the number of its bytes. Returns `nil` if it is not complete.
    @inlinable
    func find(_ bytes: RawSpan, isAtEnd: Bool) throws -> Int? {
        guard let decoded = try unsafe decoder.decode(bytes, isAtEnd: isAtEnd) else { return nil }
        unsafe frame = decoded.frame
        return decoded.byteCount
    }

    @inlinable
    func takeFrame() -> Decoder.Frame { unsafe frame.take()! }

    func takeMessage(_ bytes: RawSpan) -> Decoder.Message { unsafe decoder.message(from: takeFrame(), bytes) }
}
