public import FoundationEssentials
public import Futures

/// A text of a name: ``DNSResolver/texts(of:on:)``.
public struct TXTRecord: Hashable, Sendable {
    /// The strings of the record. Each has at most 255 bytes, in any encoding.
    public let strings: [Data]
    public package(set) var timeToLive = Duration.zero

    /// The strings, joined without a separator. Bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: strings.joined(), as: UTF8.self) }
}

extension DNSResolver {
    /// Completes with the texts of `name`, in the order in which the server gives them. `name` is an absolute name.
    /// Fails as ``services(of:on:)`` does.
    public func texts(of name: String, on loop: EventLoop) -> Future<[TXTRecord]> {
        look(on: loop) { engine in
            try engine.records(.text, of: name).map { $0.records(at: engine.loop.now) }
        }
    }
}

extension DNSType {
    package static let text = DNSType(16, "TXT", holding: TXTRecord.self)
}

extension TXTRecord: DNSRecordData {
    package init(of owner: DNSName, from reader: inout DNSReader, length: Int) throws(DNSFault) {
        let end = reader.position + length
        var strings: [Data] = []
        while reader.position < end { strings.append(Data(try reader.take(Int(try reader.number8())))) }
        self.strings = strings
    }
}
