/// Checks the extensions behind the size of a chunk: `;name`, `;name=token` or `;name="text"`, any number of them, without
/// spaces. They mean nothing here.
struct ChunkExtensions: ~Escapable {
    private let bytes: Span<UInt8>
    private var index: Int
    private let end: Int

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        self.bytes = bytes
        index = start
        self.end = end
    }

    mutating func check() throws(HTTPError) {
        while index < end {
            guard take(";"), takeToken() else { throw .badChunkExtension }
            guard take("=") else { continue }
            guard take("\"") ? takeText() : takeToken() else { throw .badChunkExtension }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < end, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func takeToken() -> Bool {
        let start = index
        index = bytes.firstIndex(from: start, to: end, notIn: .token)
        return index > start
    }

    /// Takes the rest of a quoted string, with its last quotation mark.
    private mutating func takeText() -> Bool {
        while index < end {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return true }
            guard ByteSet.value.contains(byte) else { return false }
            if byte == UInt8(ascii: "\\") {
                guard index < end, ByteSet.value.contains(bytes[index]) else { return false }
                index += 1
            }
        }
        return false
    }
}
