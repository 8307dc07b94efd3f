/// A question as it is sent to a name server.
package struct DNSQuery {
    let id: UInt16
    let question: DNSQuestion
    /// Whether an answer has to repeat the case of each letter of the name.
    var hasRandomCase = false
    /// Whether the query states the largest answer that it accepts (EDNS0). Some servers refuse such queries, and some
    /// middleboxes drop them.
    var takesLargeAnswers = false

    /// The most bytes of an answer in one datagram. Such a datagram passes every network without fragmentation.
    package static let payloadSize = 1232

    var bytes: [UInt8] {
        var writer = DNSWriter()
        // Asks the server to find the answer itself, and not to refer to other servers.
        writer.add(header: id, DNSFlags.recursionDesired, [1, 0, 0, takesLargeAnswers ? 1 : 0])
        writer.add(question)
        if takesLargeAnswers { writer.addOptions(payloadSize: UInt16(Self.payloadSize)) }
        return writer.bytes
    }
}

/// The bits of the header's flags.
package enum DNSFlags {
    package static let response: UInt16 = 0x8000
    package static let operation: UInt16 = 0x7800
    package static let authoritative: UInt16 = 0x0400
    package static let truncated: UInt16 = 0x0200
    package static let recursionDesired: UInt16 = 0x0100
    package static let recursionAvailable: UInt16 = 0x0080
    package static let code: UInt16 = 0x000F
}

/// Writes a message to or from a name server. Does not compress names.
package struct DNSWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func add(_ number: UInt16) {
        bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    package mutating func add(_ number: UInt32) {
        add(UInt16(number >> 16))
        add(UInt16(truncatingIfNeeded: number))
    }

    package mutating func add(header id: UInt16, _ flags: UInt16, _ counts: [UInt16]) {
        for number in [id, flags] + counts { add(number) }
    }

    package mutating func add(_ question: DNSQuestion) {
        bytes += question.name.wire
        add(question.type.rawValue)
        add(DNSQuestion.internet)
    }

    package mutating func addOptions(payloadSize: UInt16) {
        bytes.append(0)
        add(DNSType.options.rawValue)
        add(payloadSize)
        add(UInt32(0))
        add(UInt16(0))
    }

    package mutating func add(bytes more: [UInt8]) { bytes += more }
}
