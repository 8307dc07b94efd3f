/// A record of a message, with its type and value.
package struct DNSRecord {
    package enum Value: Hashable {
        /// Four bytes for IPv4, or sixteen for IPv6.
        case address([UInt8])
        case alias(DNSName)
        /// The data, read by the type that was asked for: a ``DNSRecordData``.
        case data(AnyHashable)
        /// The minimum field of a zone's SOA record: the longest time for which a negative answer holds, in seconds.
        case authority(minimum: UInt32)
        /// Not read: the record is of a type that was not asked for, or of another class than the Internet.
        case unknown
    }

    package let name: DNSName
    package let type: DNSType
    /// In seconds.
    package let timeToLive: UInt32
    package let value: Value

    /// The number of bytes of its names and its data, each name at its full length.
    let size: Int
}

/// An answer of a name server.
package struct DNSResponse {
    package struct Code: Hashable, Sendable {
        private static let names = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"]

        package let number: UInt16

        package static let noError = Code(number: 0)
        package static let formatError = Code(number: 1)
        package static let serverFailed = Code(number: 2)
        package static let nameNotFound = Code(number: 3)
        package static let notImplemented = Code(number: 4)
        package static let refused = Code(number: 5)

        /// The name in the protocol. `nil` for a code that has no constant here.
        var name: String? { number < Self.names.count ? Self.names[Int(number)] : nil }
    }

    package private(set) var code: Code
    /// Whether the answer does not fit into a datagram. Its records are then not read.
    package let isTruncated: Bool
    /// Whether the server only refers to others: it has neither an answer nor the zone, and asks no others itself.
    private(set) var isReferral = false
    package var answers: [DNSRecord] = []
    package var authorities: [DNSRecord] = []

    /// Reads an answer. Returns `nil` if the bytes do not answer `query`: they answer another one, or are forged.
    /// Ignores bytes after the last record. An answer counts as truncated if `isCut`, or if its flag says so. Over a
    /// connection, the flag counts only if the answer has no records at all.
    static func read(
        _ bytes: [UInt8], isCut: Bool = false, byConnection: Bool = false, to query: DNSQuery
    ) throws(DNSFault) -> DNSResponse? {
        var reader = DNSReader(bytes)
        guard let header = try? DNSHeader(&reader), header.answers(query, &reader) else { return nil }
        let saysTruncated = header.flags & DNSFlags.truncated != 0
        let isTruncated = isCut || saysTruncated && !(byConnection && header.counts[1] > 0)
        return try DNSResponse(header, &reader, query, isTruncated: isTruncated)
    }

    private init(
        _ header: DNSHeader, _ reader: inout DNSReader, _ query: DNSQuery, isTruncated: Bool
    ) throws(DNSFault) {
        self.isTruncated = isTruncated
        let lowerBits = header.flags & DNSFlags.code
        code = Code(number: lowerBits)
        if isTruncated { return }
        var fault: DNSFault?
        let asked = query.question.type
        answers = try reader.records(header.counts[1], asked, &fault)
        if let fault, !answers.contains(where: { $0.type == asked }) { throw fault }
        defer { isReferral = isReferral(header) }
        // Some servers and middleboxes miscount or cut the sections after the answers. The caller can do without those.
        guard let records = try? reader.records(header.counts[2], asked, &fault) else { return }
        authorities = records
        guard query.takesLargeAnswers, let others = try? reader.records(header.counts[3], asked, &fault)
        else {
            return
        }
        // The EDNS0 record holds the upper bits of the code in place of a time to live.
        if let options = others.first(where: { $0.type == .options }) {
            code = Code(number: UInt16(options.timeToLive >> 24) << 4 | lowerBits)
        }
    }

    private func isReferral(_ header: DNSHeader) -> Bool {
        header.flags & (DNSFlags.authoritative | DNSFlags.recursionAvailable) == 0 && code == .noError
            && answers.isEmpty && !authorities.contains { $0.type == .authority }
    }
}

extension DNSResponse.Code: CustomStringConvertible {
    package var description: String { name ?? "RCODE \(number)" }
}

/// The header of a message.
package struct DNSHeader {
    package let id: UInt16
    package let flags: UInt16
    /// The numbers of questions, answers, authority records and additional records.
    package let counts: [Int]

    package init(_ reader: inout DNSReader) throws(DNSFault) {
        id = try reader.number16()
        flags = try reader.number16()
        var counts: [Int] = []
        for _ in 0..<4 { counts.append(Int(try reader.number16())) }
        self.counts = counts
    }

    /// Whether a message with this header answers `query`. Reads the question that the message repeats. A server that
    /// could not read the query may leave it out.
    fileprivate func answers(_ query: DNSQuery, _ reader: inout DNSReader) -> Bool {
        // Some servers copy the flags of the query. A message with records is an answer nevertheless, and not an echo
        // of the query.
        let saysAnswer = flags & (DNSFlags.response | DNSFlags.operation) == DNSFlags.response
        guard id == query.id, saysAnswer || counts[1] > 0 else { return false }
        if counts[0] == 0 { return flags & DNSFlags.code == 1 }
        guard counts[0] == 1, let (question, isInternet) = try? reader.question() else { return false }
        return isInternet && question == query.question
            && (!query.hasRandomCase || question.name.wire == query.question.name.wire)
    }
}

extension DNSReader {
    /// Reads a question, and whether its class is the Internet.
    package mutating func question() throws(DNSFault) -> (DNSQuestion, isInternet: Bool) {
        let name = try name()
        let type = DNSType(rawValue: try number16())
        return (DNSQuestion(name, type), isInternet: try number16() == DNSQuestion.internet)
    }

    /// Reads records. Skips those with malformed data, and sets `fault` to the fault of the last one.
    fileprivate mutating func records(
        _ count: Int, _ asked: DNSType, _ fault: inout DNSFault?
    ) throws(DNSFault) -> [DNSRecord] {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            if let record = try record(asked, &fault) { records.append(record) }
        }
        return records
    }

    private mutating func record(_ asked: DNSType, _ fault: inout DNSFault?) throws(DNSFault) -> DNSRecord? {
        let name = try name()
        let type = type(try number16(), asked)
        let isInternet = try number16() == DNSQuestion.internet
        let timeToLive = try number32()
        let length = Int(try number16())
        var data = self
        _ = try take(length)
        var value = DNSRecord.Value.unknown
        if isInternet {
            do throws(DNSFault) {
                value = try data.value(of: type, name, length)
            } catch {
                fault = error
                return nil
            }
            guard value == .unknown || data.position == position else {
                fault = DNSFault("the length of its \(type) record is wrong")
                return nil
            }
        }
        let size = name.wire.count + data.size - self.size + length
        return DNSRecord(name: name, type: type, timeToLive: timeToLive, value: value, size: size)
    }

    /// Returns the type with this number. Only the type asked for and those of the protocol itself have names.
    private func type(_ number: UInt16, _ asked: DNSType) -> DNSType {
        for type in [asked, .ipv4, .ipv6, .alias, .authority, .options] where type.rawValue == number {
            return type
        }
        return DNSType(rawValue: number)
    }

    private mutating func value(
        of type: DNSType, _ owner: DNSName, _ length: Int
    ) throws(DNSFault) -> DNSRecord.Value {
        switch type {
        case .ipv4: return .address(Array(try take(4)))
        case .ipv6: return .address(Array(try take(16)))
        case .alias: return .alias(try name())
        case .authority:
            _ = (try name(), try name(), try take(16))
            return .authority(minimum: try number32())
        default:
            guard let data = type.data else { return .unknown }
            return .data(AnyHashable(try data.init(of: owner, from: &self, length: length)))
        }
    }
}
