/// The reason why bytes from a name server are not a valid message.
package struct DNSFault: Error, Hashable {
    /// The reason, as in "it ends within a record".
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// Reads a name server's message from its bytes, and never past their end.
package struct DNSReader {
    private let bytes: [UInt8]
    package private(set) var position = 0
    /// The number of bytes that were read, each name at its full length.
    private(set) var size = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes of the header.
    static let headerSize = 12

    package mutating func number8() throws(DNSFault) -> UInt8 { try take(1).first! }

    package mutating func number16() throws(DNSFault) -> UInt16 {
        try take(2).reduce(0) { $0 << 8 | UInt16($1) }
    }

    package mutating func number32() throws(DNSFault) -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    package mutating func take(_ count: Int) throws(DNSFault) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw DNSFault("it ends within a record") }
        defer { (position, size) = (position + count, size + count) }
        return bytes[position..<position + count]
    }

    /// Reads a name. Part of it may be a pointer to another place, usually an earlier one. Accepts at most as many
    /// pointers as the longest name has labels. A name needs no more, and each record of a message could otherwise make
    /// its reader follow thousands of them.
    package mutating func name() throws(DNSFault) -> DNSName {
        var wire: [UInt8] = []
        var part = self
        var jumps = 0
        while true {
            let length = try part.number8()
            switch length {
            case 0:
                position = jumps > 0 ? position : part.position
                size += wire.count + 1
                return DNSName(wire: wire + [0])
            case 1...63:
                wire.append(length)
                wire += try part.take(Int(length))
                guard wire.count < DNSName.longest else {
                    throw DNSFault("a name in it has more than \(DNSName.longest) bytes")
                }
            case 0xC0...:
                let target = Int(length & 0x3F) << 8 | Int(try part.number8())
                guard target >= Self.headerSize else { throw DNSFault("a name in it points into its header") }
                if jumps == 0 { position = part.position }
                jumps += 1
                guard jumps <= DNSName.mostLabels else {
                    throw DNSFault("a name in it has more than \(DNSName.mostLabels) pointers")
                }
                part.position = target
            default: throw DNSFault("a name in it has a label of an unknown kind")
            }
        }
    }
}
