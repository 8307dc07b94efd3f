internal import Futures

/// The outcome of a question: its records, or proof that it has none.
struct DNSAnswer {
    let question: DNSQuestion
    let records: [DNSRecord]
    /// Whether the name does not exist at all.
    let isNameMissing: Bool
    /// The server that gave the answer.
    let server: SocketAddress
    /// The time until which the answer may be kept.
    let expiry: LoopInstant

    /// The cost in a cache: 1, and 1 more for each full datagram of names and texts. This limits the size of a cache,
    /// whatever servers answer.
    var cost: Int { 1 + records.reduce(0) { $0 + $1.size } / DNSQuery.payloadSize }

    func timeToLive(at now: LoopInstant) -> Duration { max(.zero, now.duration(to: expiry)) }

    /// Returns the records for a caller, with the time to live that is left at `now`.
    func records<Record: DNSRecordData>(of _: Record.Type = Record.self, at now: LoopInstant) -> [Record] {
        records.compactMap { record in
            guard case .data(let data) = record.value, var data = data.base as? Record else { return nil }
            data.timeToLive = timeToLive(at: now)
            return data
        }
    }

    /// Returns the error of a look-up that found no records.
    func failure(of name: String) -> ResolutionError {
        let type = question.type
        let isAddress = type == .ipv4 || type == .ipv6
        let rest = isNameMissing ? "does not exist" : isAddress ? "has no address" : "has no \(type) record"
        return failure(of: name, because: "\(question.name) \(rest)")
    }

    /// Returns the error of a look-up that failed for `reason`.
    func failure(of name: String, because reason: String) -> ResolutionError {
        ResolutionError(
            name: name, code: isNameMissing ? .nameNotFound : .noAddress, server: server,
            reason: "\(server) says that \(reason)")
    }
}
