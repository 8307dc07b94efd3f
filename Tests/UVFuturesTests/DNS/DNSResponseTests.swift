import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct DNSResponseTests {
    private static let query = query(.ipv4)

    private static func query(_ type: DNSType) -> DNSQuery {
        DNSQuery(id: 0x1234, question: DNSQuestion(try! DNSName("www.example.com"), type))
    }

    /// A message with the question of `query`, as `bytes` go on.
    private func message(
        _ bytes: [UInt8], counts: [UInt16] = [1, 1, 0, 0], flags: UInt16 = 0x8180, id: UInt16 = 0x1234,
        about query: DNSQuery = query
    ) -> [UInt8] {
        var writer = DNSWriter()
        writer.add(header: id, flags, counts)
        writer.add(query.question)
        return writer.bytes + bytes
    }

    /// The first lines of a record: the name by a pointer to the question, type, class, time to live, length.
    private func record(_ type: UInt16, _ length: UInt8, class number: UInt8 = 1, name: [UInt8] = [0xC0, 12])
        -> [UInt8]
    {
        name + [UInt8(type >> 8), UInt8(truncatingIfNeeded: type), 0, number, 0, 0, 0, 60, 0, length]
    }

    private func read(_ bytes: [UInt8], _ query: DNSQuery = query) throws -> DNSResponse? {
        try DNSResponse.read(bytes, to: query)
    }

    private func fault(_ bytes: [UInt8], _ query: DNSQuery = query) -> String? {
        do {
            return try read(bytes, query) == nil ? "ignored" : nil
        } catch {
            return (error as? DNSFault)?.text
        }
    }

    @Test("a query has the question, asks for recursion, and may say how large an answer may be")
    func queryBytes() {
        let start: [UInt8] = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0]
        var large = Self.query
        large.takesLargeAnswers = true
        let name = Array("\u{3}www\u{7}example\u{3}com\0".utf8)
        let options: [UInt8] = [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0]
        #expect(large.bytes == start + [1] + name + [0, 1, 0, 1] + options)
        #expect(Self.query.bytes == start + [0] + name + [0, 1, 0, 1])
    }

    @Test("an address is read, with a name that points to the question")
    func address() throws {
        let response = try #require(try read(message(record(1, 4) + [192, 0, 2, 1])))
        #expect(response.answers.map(\.value) == [.address([192, 0, 2, 1])])
        #expect(response.answers[0].name == Self.query.question.name)
        #expect(response.answers[0].timeToLive == 60)
        #expect(response.code == .noError && !response.isTruncated)
    }

    @Test("the kinds of record that lead to others are read in each answer, and others are passed over")
    func kinds() throws {
        let target: [UInt8] = [1, 97, 0xC0, 16]
        for (type, data, value) in [
            (28, [UInt8](1...16), DNSRecord.Value.address(Array(1...16))),
            (5, target, .alias(try DNSName("a.example.com"))),
            (6, target + [0] + [UInt8](repeating: 0, count: 16) + [0, 0, 1, 0], .authority(minimum: 256)),
            (16, [2, 104, 105], .unknown), (257, [1, 2, 3], .unknown),
        ] as [(UInt16, [UInt8], DNSRecord.Value)] {
            let response = try read(message(record(type, UInt8(data.count)) + data))
            #expect(response?.answers.map(\.value) == [value])
        }
        let chaos = try read(message(record(1, 1, class: 3) + [7]))
        #expect(chaos?.answers.map(\.value) == [.unknown])
    }

    @Test("what does not answer the query is ignored")
    func ignored() throws {
        let good = record(1, 4) + [192, 0, 2, 1]
        #expect(try read(message(good)) != nil)
        for bytes in [
            message(good, id: 0x1235), message([], counts: [1, 0, 0, 0], flags: 0x0100),
            message([], counts: [1, 0, 0, 0], flags: 0x8980), message(good, counts: [2, 1, 0, 0]),
            message(good, counts: [0, 1, 0, 0]), [],
        ] {
            #expect(try read(bytes) == nil)
        }
        for other in [
            DNSQuestion(try DNSName("wwx.example.com"), .ipv4), DNSQuestion(Self.query.question.name, .ipv6),
        ] {
            #expect(try read(message(good), DNSQuery(id: 0x1234, question: other)) == nil)
        }
        var chaos = message(good)
        chaos[12 + 17 + 3] = 3
        #expect(try read(chaos) == nil)
    }

    @Test("the case of the name matters only if the query has random case")
    func cases() throws {
        let upper = DNSQuestion(try DNSName("WWW.example.com"), .ipv4)
        let bytes = message(record(1, 4) + [192, 0, 2, 1])
        #expect(try read(bytes, DNSQuery(id: 0x1234, question: upper)) != nil)
        #expect(try read(bytes, DNSQuery(id: 0x1234, question: upper, hasRandomCase: true)) == nil)
    }

    @Test("a server that cannot read the query may leave out the question")
    func withoutQuestion() throws {
        let response = try read([0x12, 0x34, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(response?.code == .formatError)
    }

    @Test("codes have their names, and EDNS0 has the upper bits of them")
    func codes() throws {
        let known: [DNSResponse.Code] = [
            .noError, .formatError, .serverFailed, .nameNotFound, .notImplemented, .refused,
        ]
        #expect(known.map(\.number) == Array(0...5))
        for (number, text) in ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "RCODE 6"]
            .enumerated()
        {
            let response = try read(message([], counts: [1, 0, 0, 0], flags: 0x8180 | UInt16(number)))
            #expect(response?.code.description == text)
        }
        let options: [UInt8] = [0, 0, 41, 4, 0xD0, 1, 0, 0, 0, 0, 0]
        var query = Self.query
        query.takesLargeAnswers = true
        #expect(
            try read(message(options, counts: [1, 0, 0, 1]), query)?.code == DNSResponse.Code(number: 16))
        #expect(try read(message(options, counts: [1, 0, 0, 1]))?.code == .noError)
    }

    @Test("the records of a truncated answer are not read")
    func truncated() throws {
        let cut = message([0xC0], flags: 0x8380)
        #expect(try read(cut)?.isTruncated == true)
        let response = try DNSResponse.read(message([0xC0]), isCut: true, to: Self.query)
        #expect(response?.isTruncated == true)
    }

    @Test("an answer by a connection is as long as it is, and has records")
    func byConnection() throws {
        let whole = message(record(1, 4) + [192, 0, 2, 1], flags: 0x8380)
        let response = try DNSResponse.read(whole, byConnection: true, to: Self.query)
        #expect(response?.isTruncated == false && response?.answers.count == 1)
        let empty = message([], counts: [1, 0, 0, 0], flags: 0x8380)
        #expect(try DNSResponse.read(empty, byConnection: true, to: Self.query)?.isTruncated == true)
    }

    @Test("bytes behind the last record are ignored")
    func trailing() throws {
        let response = try read(message(record(1, 4) + [192, 0, 2, 1] + [1, 2, 3]))
        #expect(response?.answers.count == 1)
    }

    @Test(
        "pointers in a circle or to no name, labels of unknown kinds and names that are too long are faults")
    func names() {
        let own = UInt8(12 + 21)
        let many = "a name in it has more than 127 pointers"
        for (name, text) in [
            ([0xC0, own], many), ([0xC0, own + 2, 0xC0, own], many),
            ([0xC0, 200], "it ends within a record"),
            ([1, 97, 0xC0, own], "a name in it has more than 255 bytes"),
            ([0xC0, 11], "a name in it points into its header"),
            ([0x40, 1], "a name in it has a label of an unknown kind"),
            ([0x80, 1], "a name in it has a label of an unknown kind"),
            ([5, 97], "it ends within a record"),
        ] as [([UInt8], String)] {
            #expect(fault(message(name)) == text, "\(name)")
        }
        let label = [63] + [UInt8](repeating: 97, count: 63)
        let four = label + label + label + label
        #expect(
            fault(message(record(1, 4, name: four + [0]) + [1, 2, 3, 4]))
                == "a name in it has more than 255 bytes")
        func name(lastLabel count: UInt8) -> [UInt8] {
            label + label + label + [count] + [UInt8](repeating: 98, count: Int(count)) + [0]
        }
        #expect(fault(message(record(1, 4, name: name(lastLabel: 61)) + [1, 2, 3, 4])) == nil)
        #expect(
            fault(message(record(1, 4, name: name(lastLabel: 62)) + [1, 2, 3, 4]))
                == "a name in it has more than 255 bytes")
    }

    @Test("a name may point to a later one")
    func forward() throws {
        let later = UInt8(12 + 21 + 12 + 4)
        let bytes = message(record(1, 4, name: [0xC0, later]) + [192, 0, 2, 1] + [1, 97, 0xC0, 12])
        #expect(try read(bytes)?.answers.map(\.name) == [DNSName("a.www.example.com")])
    }

    @Test("a chain of pointers is followed")
    func chain() throws {
        var bytes: [UInt8] = []
        var target: UInt8 = 12
        for _ in 0..<40 {
            let place = UInt8(12 + 21 + bytes.count)
            bytes += [0xC0, target]
            target = place
        }
        // The pointers are the data of a record of an unknown type.
        let first = record(99, UInt8(bytes.count))
        let shifted = bytes.enumerated().map {
            $0.offset % 2 == 1 && $0.offset > 1 ? $0.element + 12 : $0.element
        }
        let second = record(1, 4, name: [0xC0, target + 12]) + [192, 0, 2, 1]
        let response = try read(message(first + shifted + second, counts: [1, 2, 0, 0]))
        #expect(response?.answers.last?.name == Self.query.question.name)
    }

    /// `count` pointers, each to the one before and the first to the question, as the data of a record of an unknown type,
    /// and the place of the last.
    private func chain(of count: Int) -> (record: [UInt8], end: Int) {
        let start = 12 + 21 + 12
        var writer = DNSWriter()
        writer.add(bytes: [0xC0, 12, 0, 99, 0, 1, 0, 0, 0, 60])
        writer.add(UInt16(2 * count))
        for index in 0..<count { writer.add(UInt16(0xC000 | (index == 0 ? 12 : start + 2 * index - 2))) }
        return (writer.bytes, start + 2 * count - 2)
    }

    private func pointer(to place: Int) -> [UInt8] { [0xC0 | UInt8(place >> 8), UInt8(place & 0xFF)] }

    @Test("a name has no more pointers than it can have labels", arguments: [126, 127, 8168])
    func pointers(count: Int) {
        let (chain, end) = chain(of: count)
        let bytes = message(
            chain + record(1, 4, name: pointer(to: end)) + [192, 0, 2, 1], counts: [1, 2, 0, 0])
        #expect(fault(bytes) == (count < 127 ? nil : "a name in it has more than 127 pointers"))
    }

    enum Flood: CaseIterable {
        case pointers, longestChains, longNames, manyLabels, aliases, emptyTexts, services, lies
    }

    /// An answer of about `size` bytes that costs as much as it can.
    private func flood(_ kind: Flood, _ size: Int, about query: DNSQuery) -> [UInt8] {
        var (bytes, part) = ([UInt8](), [UInt8]())
        var count = 1
        switch kind {
        case .pointers, .longestChains:
            let chain = chain(of: kind == .pointers ? min(size / 4, 8168) : 126)
            (bytes, part) = (chain.record, record(1, 4, name: pointer(to: chain.end)) + [192, 0, 2, 1])
        case .longNames, .manyLabels:
            let name: [UInt8] = Array(repeating: [1, 97], count: 127).flatMap { $0 } + [0]
            bytes = record(99, 255) + name
            part = record(5, 2, name: kind == .longNames ? pointer(to: 45) : name) + pointer(to: 45)
        case .aliases:
            // One leads to the next, and all have to be looked through for each.
            for index in 0..<AliasChain.longest - 1 {
                let name = { (index: Int) -> [UInt8] in index == 0 ? [0xC0, 12] : [1, 97 + UInt8(index), 0] }
                bytes += record(5, UInt8(name(index + 1).count), name: name(index)) + name(index + 1)
                count += 1
            }
            count -= 1
            part = record(1, 4, name: [1, 122, 0]) + [192, 0, 2, 1]
        case .emptyTexts:
            let length = min(size, 65_000)
            bytes = [0xC0, 12, 0, 16, 0, 1, 0, 0, 0, 60, UInt8(length >> 8), UInt8(length & 0xFF)]
            return message(bytes + [UInt8](repeating: 0, count: length), about: query)
        case .services:
            count = 0
            part = record(33, 7) + [0, 0, 0, 1, 0, 80, 0]
        case .lies: return message([], counts: [1, UInt16(size / 16), 0, 0], about: query)
        }
        while bytes.count + part.count <= size {
            bytes += part
            count += 1
        }
        return message(bytes, counts: [1, UInt16(count), 0, 0], about: query)
    }

    @Test("what an answer costs is in proportion to its bytes, whatever is in it", arguments: Flood.allCases)
    func growth(kind: Flood) {
        let type: DNSType = kind == .services ? .service : kind == .emptyTexts ? .text : .ipv4
        let loop = EventLoop.virtual()
        defer { loop.shutdown() }
        let now = loop.now
        expectLinear(from: 8192, upTo: 65_000) { size in
            let query = Self.query(type)
            let bytes = flood(kind, size, about: query)
            var random = SeededGenerator(seed: 1)
            return {
                guard let response = try? DNSResponse.read(bytes, to: query) else { return }
                var chain = AliasChain(query.question.name)
                guard let records = try? chain.find(type, in: response)?.records, !records.isEmpty else {
                    return
                }
                let answer = DNSAnswer(
                    question: query.question, records: records, isNameMissing: false,
                    server: SocketAddress(canonicalHost: "127.0.0.1", port: 53),
                    expiry: now)
                _ = answer.records(of: SRVRecord.self, at: now).ordered(using: &random)
            }
        }
    }

    @Test("lengths and counts that lie are faults")
    func lies() {
        let ends = "it ends within a record"
        for (bytes, text) in [
            (message(record(1, 3) + [1, 2, 3]), ends),
            (message(record(1, 3) + [1, 2, 3, 4]), "the length of its A record is wrong"),
            (message(record(1, 5) + [1, 2, 3, 4, 5]), "the length of its A record is wrong"),
            (message(record(1, 200) + [1, 2, 3, 4]), ends),
            (message(record(28, 4) + [1, 2, 3, 4]), ends),
            (message(record(5, 1) + [0xC0, 12]), "the length of its CNAME record is wrong"),
            (message(record(1, 4) + [1, 2, 3, 4], counts: [1, 2, 0, 0]), ends),
            (message(record(1, 4) + [1, 2, 3, 4], counts: [1, 65_535, 65_535, 65_535]), ends),
        ] {
            #expect(fault(bytes) == text)
        }
        let texts = Self.query(.text)
        #expect(
            fault(message(record(16, 2) + [5, 1, 2, 3, 4, 5], about: texts), texts)
                == "the length of its TXT record is wrong")
    }

    @Test("a record that makes no sense is passed over beside one that answers the question")
    func nonsense() throws {
        let good = record(1, 4) + [192, 0, 2, 1]
        for bad in [
            record(1, 3) + [1, 2, 3], record(1, 0), record(1, 5) + [1, 2, 3, 4, 5],
            record(5, 3) + [0xC0, 12, 0],
        ] {
            for records in [bad + good, good + bad] {
                let response = try read(message(records, counts: [1, 2, 0, 0]))
                #expect(response?.answers.map(\.value) == [.address([192, 0, 2, 1])])
            }
        }
    }

    @Test(
        "sections behind the answers may be cut, miscounted or nonsense",
        arguments: [[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 65_535, 65_535]] as [[UInt16]],
        [[], [0x40], [0xC0, 12, 0, 6], [0xC0, 12, 0, 6, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0]] as [[UInt8]])
    func behind(counts: [UInt16], bytes: [UInt8]) throws {
        var query = Self.query
        for takesLargeAnswers in [false, true] {
            query.takesLargeAnswers = takesLargeAnswers
            let response = try read(message(record(1, 4) + [192, 0, 2, 1] + bytes, counts: counts), query)
            #expect(response?.answers.count == 1 && response?.authorities.isEmpty == true)
            #expect(try read(message(bytes, counts: [1, 0] + counts[2...]))?.code == .noError)
        }
    }

    /// An answer with everything in it.
    private func rich(hasAuthority: Bool = true) throws -> [UInt8] {
        var reply = NameServerReply(to: Self.query.bytes)!
        let name = Self.query.question.name
        for record: SimulatedNames.Record in [
            .alias("a.example.com"), .address("192.0.2.1"), .address("2001:db8::1"), .text(["one", "two"]),
            .service(priority: 1, weight: 2, port: 3, target: "b.example.com"),
            .mailExchange(preference: 1, "c.example.com"), .pointer("d.example.com"),
        ] {
            try reply.add(record, of: name, timeToLive: 60)
        }
        if hasAuthority { reply.addAuthority(of: name, timeToLive: 1, minimum: 2) }
        return reply.bytes
    }

    @Test("each kind of record that may be asked for is read, with its size at full length")
    func askedFor() throws {
        let target: [UInt8] = [1, 97, 0xC0, 16]
        for (type, data, text, size) in [
            (.pointer, target, "a.example.com", 15), (.exchange, [0, 10] + target, "10 a.example.com", 17),
            (.service, [0, 1, 0, 2, 0, 80] + target, "1 2 80 a.example.com", 21),
            (.service, [0, 1, 0, 2, 0, 80, 0], "1 2 80 .", 7), (.text, [2, 104, 105, 0, 1, 33], "hi,,!", 6),
            (.text, [], "", 0), (.https, [0, 1, 0], "1 www.example.com", 3),
            (.https, [0, 0] + target, "0 a.example.com", 17),
        ] as [(DNSType, [UInt8], String, Int)] {
            let query = Self.query(type)
            let bytes = message(record(type.rawValue, UInt8(data.count)) + data, about: query)
            let answer = try #require(try read(bytes, query)?.answers.first)
            guard case .data(let record) = answer.value else {
                Issue.record("\(type) is \(answer.value)")
                continue
            }
            let found =
                switch record.base {
                case let record as PTRRecord: record.name
                case let record as MXRecord: "\(record.preference) \(record.exchange)"
                case let record as SRVRecord:
                    "\(record.priority) \(record.weight) \(record.port) \(record.target)"
                case let record as TXTRecord:
                    record.strings.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
                case let record as HTTPSRecord: "\(record.priority) \(record.target)"
                default: "another type"
                }
            #expect(found == text && answer.size == query.question.name.wire.count + size)
        }
    }

    @Test("a record whose name goes on behind its end is a fault")
    func nameBehindEnd() {
        for (type, text) in [
            (.https, "it ends within a record"), (.exchange, "the length of its MX record is wrong"),
        ] as [(DNSType, String)] {
            let query = Self.query(type)
            let bytes = message(record(type.rawValue, 3) + [0, 1, 1, 97, 0], about: query)
            #expect(fault(bytes, query) == text)
        }
    }

    @Test("an answer that is cut at any byte before the end of its answers is ignored, or a fault")
    func cut() throws {
        let bytes = try rich()
        let needed = try rich(hasAuthority: false).count
        for count in 0...bytes.count {
            #expect((fault(Array(bytes.prefix(count))) == nil) == (count >= needed), "\(count) bytes")
        }
    }

    @Test("answers with random changes are read, ignored or refused, and nothing else happens")
    func anything() throws {
        let bytes = try rich()
        var random = SeededGenerator()
        var counts: [String: Int] = [:]
        for _ in 0..<(isSoaking ? 1_000_000 : 20_000) {
            var changed = bytes
            for _ in 0..<random.below(8) + 1 {
                let place = random.below(changed.count)
                switch random.below(4) {
                case 0: changed[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: changed[place] ^= 1 << UInt8(random.below(8))
                case 2: changed[place] = 0xC0
                default: changed.removeSubrange(place..<min(changed.count, place + random.below(3)))
                }
            }
            counts[fault(changed) ?? "read", default: 0] += 1
        }
        // Each way out has been taken.
        #expect(counts["read"] ?? 0 > 0 && counts["ignored"] ?? 0 > 0 && counts.count > 5, "\(counts)")
    }
}
