internal import Futures

/// What is known of a question: its records, or that there are none.
struct DNSAnswer {
    let question: DNSQuestion
    let records: [DNSRecord]
    /// Whether the name does not exist at all.
    let isNameMissing: Bool
    /// The server that said so.
    let server: SocketAddress
    /// Until when it may be kept.
    let expiry: LoopInstant

    /// What it counts as in a cache: as one, and as one more for each size of a datagram of its names and texts. So what a
    /// cache holds is limited, whatever servers answer.
    var cost: Int { 1 + records.reduce(0) { $0 + $1.size } / DNSQuery.payloadSize }

    func timeToLive(at now: LoopInstant) -> Duration { max(.zero, now.duration(to: expiry)) }

    /// The error of a look-up that found no records.
    func failure(of name: String) -> ResolutionError {
        let type = question.type
        let isAddress = type == .ipv4 || type == .ipv6
        let rest = isNameMissing ? "does not exist" : isAddress ? "has no address" : "has no \(type) record"
        return failure(of: name, because: "\(question.name) \(rest)")
    }

    /// The error of a look-up that found only what `reason` says.
    func failure(of name: String, because reason: String) -> ResolutionError {
        ResolutionError(
            name: name, code: isNameMissing ? .nameNotFound : .noAddress, server: server,
            reason: "\(server) says that \(reason)")
    }
}
