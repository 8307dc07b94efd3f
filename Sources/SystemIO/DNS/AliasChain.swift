/// The aliases that lead from the name of a question to the name that has the records.
struct AliasChain {
    /// The names so far. The last one is the current name to ask for.
    private(set) var names: [DNSName]
    /// The least time to live of the aliases, in seconds.
    private var timeToLive = UInt32.max

    static let longest = 16

    init(_ name: DNSName) { names = [name] }

    /// The result of an answer for the question.
    struct Finding {
        var records: [DNSRecord] = []
        var isNameMissing = false
        /// The least time to live of the records and the aliases, in seconds. 0 if the answer does not state one.
        var timeToLive: UInt32 = 0
    }

    /// Finds the records of `type` in `response`. Only records of the name itself and of the targets of its aliases
    /// count. Returns `nil` if the name is an alias, and the answer lacks the records of its target.
    mutating func find(_ type: DNSType, in response: DNSResponse) throws(DNSFault) -> Finding? {
        var isMoved = false
        while true {
            let own = response.answers.filter { $0.name == names.last! && $0.value != .unknown }
            let found = own.filter { $0.type == type }
            if !found.isEmpty {
                return Finding(records: found, timeToLive: found.reduce(timeToLive) { min($0, $1.lifetime) })
            }
            guard let alias = own.first(where: { $0.type == .alias }), case .alias(let target) = alias.value
            else { break }
            try follow(alias, to: target)
            isMoved = true
        }
        let isNameMissing = response.code == .nameNotFound
        guard let authority = response.authorities.first(where: { $0.type == .authority }),
            case .authority(let minimum) = authority.value
        else {
            return isMoved && !isNameMissing ? nil : Finding(isNameMissing: isNameMissing)
        }
        // RFC 2308, section 5.
        return Finding(
            isNameMissing: isNameMissing, timeToLive: min(timeToLive, authority.lifetime, minimum))
    }

    private mutating func follow(_ alias: DNSRecord, to target: DNSName) throws(DNSFault) {
        guard !names.contains(target) else {
            throw DNSFault("the aliases of \(names[0]) form a circle, which leads to \(target) again")
        }
        guard names.count < Self.longest else {
            throw DNSFault("\(names[0]) has a chain of more than \(Self.longest) aliases")
        }
        names.append(target)
        timeToLive = min(timeToLive, alias.lifetime)
    }
}

extension DNSRecord {
    /// The time to live. A negative one counts as zero, as RFC 2181 requires.
    fileprivate var lifetime: UInt32 { timeToLive > Int32.max ? 0 : timeToLive }
}
