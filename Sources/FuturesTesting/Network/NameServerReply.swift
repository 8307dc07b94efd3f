package import SystemIO

/// The answer of a simulated name server to one query.
package struct NameServerReply {
    package var question: DNSQuestion
    /// Whether the query states how large an answer may be.
    package let takesLargeAnswers: Bool
    package var id: UInt16
    package var flags = DNSFlags.response | DNSFlags.recursionDesired | DNSFlags.recursionAvailable
    private var answers: [[UInt8]] = []
    private var authorities: [[UInt8]] = []

    /// Begins an answer. Returns `nil` if the bytes are not a query.
    package init?(to query: [UInt8]) {
        var reader = DNSReader(query)
        guard let header = try? DNSHeader(&reader), header.flags & DNSFlags.response == 0,
            let (question, _) = try? reader.question()
        else { return nil }
        id = header.id
        self.question = question
        takesLargeAnswers = header.counts[3] > 0
    }

    package mutating func fail(_ code: DNSResponse.Code) { flags |= code.number }

    package mutating func add(_ record: SimulatedNames.Record, of name: DNSName, timeToLive: UInt32) throws {
        answers.append(Self.record(name, record.type, timeToLive, try record.data()))
    }

    /// Adds the authority record of a zone (SOA), which states how long a negative answer may be cached.
    package mutating func addAuthority(of zone: DNSName, timeToLive: UInt32, minimum: UInt32) {
        var data = DNSWriter()
        // Two names, each the root (a zero byte), and the numeric fields of the zone.
        data.add(UInt16(0))
        for number in [1, 3600, 600, 86_400, minimum] { data.add(number) }
        authorities.append(Self.record(zone, .authority, timeToLive, data.bytes))
    }

    package var bytes: [UInt8] {
        var writer = DNSWriter()
        writer.add(
            header: id, flags,
            [1, UInt16(answers.count), UInt16(authorities.count), takesLargeAnswers ? 1 : 0])
        writer.add(question)
        for record in answers + authorities { writer.add(bytes: record) }
        if takesLargeAnswers { writer.addOptions(payloadSize: 4096) }
        return writer.bytes
    }

    /// The bytes to send. An answer that is too long for a datagram is truncated.
    func bytes(byConnection: Bool) -> [UInt8] {
        let limit = takesLargeAnswers ? DNSQuery.payloadSize : Self.smallSize
        return byConnection || bytes.count <= limit ? bytes : truncated
    }

    /// The largest size of a datagram in bytes without EDNS0.
    private static let smallSize = 512

    /// The answer without its records, marked as truncated.
    package var truncated: [UInt8] {
        var copy = self
        copy.flags |= DNSFlags.truncated
        copy.answers = []
        copy.authorities = []
        return copy.bytes
    }

    private static func record(
        _ name: DNSName, _ type: DNSType, _ timeToLive: UInt32, _ data: [UInt8]
    ) -> [UInt8] {
        var writer = DNSWriter()
        writer.add(bytes: name.wire)
        writer.add(type.rawValue)
        writer.add(DNSQuestion.internet)
        writer.add(timeToLive)
        writer.add(UInt16(data.count))
        writer.add(bytes: data)
        return writer.bytes
    }
}
