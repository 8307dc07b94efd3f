extension String {
    /// Creates a text from bytes of the system, such as a path, an argument or the value of a variable.
    ///
    /// Valid UTF-8 in `bytes` is decoded. Each other byte becomes one of 128 private code points, from U+10FF80 for
    /// 0x80 to U+10FFFF for 0xFF, so that ``systemBytes`` returns the same bytes again. The four bytes of such a code
    /// point in `bytes` become four of them.
    public init(systemBytes bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.mayHaveRawBytes {
            self = text
            return
        }
        var scalars = UnicodeScalarView()
        var (rest, parser) = (bytes.makeIterator(), Unicode.UTF8.ForwardParser())
        // The bytes that are not yet in `scalars`.
        var unread = bytes[...]
        while true {
            switch parser.parseScalar(from: &rest) {
            case .emptyInput:
                self.init(scalars)
                return
            case .valid(let units) where !UTF8.decode(units).isRawByte:
                scalars.append(UTF8.decode(units))
                unread = unread.dropFirst(units.count)
            case .valid(let units):
                scalars.append(contentsOf: units.map(Unicode.Scalar.init(rawByte:)))
                unread = unread.dropFirst(units.count)
            case .error(let length):
                scalars.append(contentsOf: unread.prefix(length).map(Unicode.Scalar.init(rawByte:)))
                unread = unread.dropFirst(length)
            }
        }
    }

    /// The bytes that the text stands for in the system: those from which ``init(systemBytes:)`` has made it, or the
    /// UTF-8 of any other text.
    ///
    /// Swift considers two texts equal if they look the same, such as `é` as one code point and as two. For the system,
    /// they are different names. So compare and hash these bytes where both may occur.
    public var systemBytes: [UInt8] {
        guard mayHaveRawBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in
            scalar.isRawByte ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(UTF8.encode(scalar)!)
        }
    }

    private var mayHaveRawBytes: Bool { utf8.contains(0xF4) }
}

extension Unicode.Scalar {
    fileprivate init(rawByte: UInt8) { self.init(0x10FF00 + UInt32(rawByte))! }

    fileprivate var isRawByte: Bool { value >= 0x10FF80 }
}
