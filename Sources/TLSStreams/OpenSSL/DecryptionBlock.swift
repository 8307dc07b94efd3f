internal import FoundationEssentials
internal import Glibc

/// A buffer for decrypted bytes, which the connections of a context use in turn.
@safe
final class DecryptionBlock {
    /// The size of four large records.
    static let size = 65_536
    /// The maximum number of records in one fill, even if more small ones would fit.
    private static let mostRecords = 64
    private var base: UnsafeMutableRawPointer?

    deinit { unsafe free(base) }

    /// Decrypts as many of the arrived bytes as fit. Returns how many bytes it has written, and how the last call
    /// ended: `.done` if there may be more to decrypt.
    func fill(from connection: OpenSSLConnection) -> (count: Int, last: OpenSSLConnection.Step) {
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: base ?? allocated(), count: Self.size)
        var count = 0
        for _ in 0..<Self.mostRecords where count < Self.size {
            let step = unsafe connection.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
            guard case .done(let more) = step else {
                if case .wantsInput = step, connection.hasInput { return (count, .done(count)) }
                return (count, step)
            }
            count += more
            if !connection.hasMore { return (count, .wantsInput) }
        }
        return (count, .done(count))
    }

    @inline(never)
    private func allocated() -> UnsafeMutableRawPointer? {
        unsafe base = malloc(Self.size)
        return unsafe base
    }

    /// Lends the first `count` bytes to `body`, which may call `take` to keep them.
    func lend(_ count: Int, to body: (RawSpan) -> Void) {
        unsafe body(UnsafeRawBufferPointer(start: base, count: count).bytes)
    }

    /// Returns the first `count` bytes: the block itself if they fill at least half of it, or else a copy.
    func take(_ count: Int) -> Data {
        guard count >= Self.size / 2 else { return unsafe Data(bytes: base!, count: count) }
        defer { unsafe base = nil }
        return unsafe Data(bytesNoCopy: base!, count: count, deallocator: .free)
    }
}

extension [UInt8] {
    func lend(to body: (RawSpan) throws -> Void) rethrows { unsafe try body(span.bytes) }
}
