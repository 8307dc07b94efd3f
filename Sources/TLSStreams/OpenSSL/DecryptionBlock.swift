internal import FoundationEssentials

/// Memory for decrypted bytes, which the connections of a context use by turns.
@safe
final class DecryptionBlock {
    /// The bytes of four records.
    static let size = 65_536
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

    deinit { unsafe bytes.deallocate() }

    /// Decrypts as many of the bytes that have come as fit. Returns their number, and how the last call ended.
    func fill(from connection: OpenSSLConnection) -> (count: Int, last: OpenSSLConnection.Step) {
        var count = 0
        while count < Self.size {
            let step = unsafe connection.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
            guard case .done(let more) = step else { return (count, step) }
            count += more
            if !connection.hasMore { return (count, .wantsInput) }
        }
        return (count, .done(count))
    }

    /// Lends the first `count` bytes.
    func lend(_ count: Int, to body: (RawSpan) -> Void) {
        unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<count]).bytes)
    }
}

extension Data {
    mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
