internal import SystemIO

extension SimulatedNames {
    /// A mistake in the UDP answers of the name servers of a world. Their TCP answers are correct.
    public enum Mistake: Hashable, Sendable {
        /// The answer has the ID of another query, as a forged answer does.
        case wrongID
        /// The answer is to another question.
        case wrongQuestion
        /// The answer claims that it does not fit into a datagram.
        case truncated
        /// The answer ends in the middle of a record.
        case cut
        /// The answer is not a DNS message.
        case garbage

        /// Returns the bytes that are sent instead of `reply`.
        func spoiled(_ reply: NameServerReply) -> [UInt8] {
            var other = reply
            switch self {
            case .wrongID: other.id ^= 0x5555
            case .wrongQuestion:
                other.question = DNSQuestion(DNSName(labels: [Array("another".utf8)]), reply.question.type)
            case .truncated: return reply.truncated
            case .cut: return reply.bytes.dropLast()
            case .garbage: return Array("no message".utf8)
            }
            return other.bytes
        }
    }
}
