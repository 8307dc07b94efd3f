public import Futures
public import SystemIO

/// The names of a ``World``. A query for a name gets addresses or other records. Answers may be late, wrong or missing.
///
/// ``SystemResolver`` looks up these names without a network, unless the ``SimulatedHost/hostsFile`` of its host
/// contains them. ``DNSResolver`` queries the name servers of the world: ``World/addNameServer(_:addresses:)``.
public final class SimulatedNames: NameResolver {
    private enum Answer {
        case records([Record])
        case failure(SystemError.Code)
        case silence
    }

    /// The time that an answer takes. Answers of name servers take the time of the network in addition. Traps if it is
    /// negative.
    public var latency: Duration = .milliseconds(1) { didSet { check("latency of name servers", latency) } }
    /// The time to live of the name servers' answers, including negative answers. Traps if it is negative.
    public var timeToLive: Duration = .seconds(60) { didSet { check("timeToLive of names", timeToLive) } }
    private var answers: [String: Answer] = [:]
    private var mistakes: [String: Mistake] = [:]
    private unowned let simulation: Simulation

    init(_ simulation: Simulation) { self.simulation = simulation }

    func add(_ host: SimulatedHost) {
        answers[host.name.lowercased()] = .records(host.addresses.map(Record.address))
        for address in host.addresses.map({ SocketAddress(canonicalHost: $0, port: 0) }) {
            answers["\(DNSName(reverse: address))"] = .records([.pointer(host.name)])
        }
    }

    /// Makes `name` resolve to `addresses` from now on. Throws ``Futures/FutureError/invalidArgument(_:)`` if one of
    /// them is not a numeric address.
    public func set(_ name: String, to addresses: [String]) throws {
        let addresses = try addresses.map { try SocketAddress(host: $0, port: 0).host }
        answers[name.lowercased()] = .records(addresses.map(Record.address))
        note("\(name) stands for \(addresses.joined(separator: ", "))")
    }

    /// Adds a record to `name`. Throws ``Futures/FutureError/invalidArgument(_:)`` if a name or an address in `record`
    /// is malformed.
    ///
    /// ```swift
    /// try world.names.add(.service(port: 80, target: "server"), to: "_http._tcp.example.com")
    /// ```
    public func add(_ record: Record, to name: String) throws {
        _ = try record.data()
        answers[name.lowercased()] = .records(records(of: name) + [record])
        note("\(name) has a new record, \(record)")
    }

    /// Makes each query for `name` fail with a ``UVFutures/ResolutionError``.
    public func fail(_ name: String, with code: SystemError.Code = .nameServerFailed) {
        answers[name.lowercased()] = .failure(code)
        note("\(name) cannot be resolved")
    }

    /// Leaves each query for `name` unanswered.
    public func silence(_ name: String) {
        answers[name.lowercased()] = .silence
        note("nobody answers questions for \(name)")
    }

    /// Makes the name servers answer UDP queries for `name` wrongly from now on. With `nil`, their answers are right
    /// again.
    public func spoil(_ name: String, by mistake: Mistake?) {
        mistakes[name.lowercased()] = mistake
        note("the answers for \(name) are \(mistake.map { "spoilt: \($0)" } ?? "right")")
    }

    public func resolve(_ name: String, port: Int, on loop: EventLoop) -> Future<[SocketAddress]> {
        let listed = loop.listedAddresses(of: name, port: port)
        if !listed.isEmpty { return loop.succeeded(listed) }
        switch answers[name.lowercased()] {
        case .silence: return loop.never(of: [SocketAddress].self)
        case .failure(let code): return answer(.failure(ResolutionError(name: name, code: code)), on: loop)
        case nil: return answer(.failure(ResolutionError(name: name, code: .nameNotFound)), on: loop)
        case .records(let records):
            var addresses: [SocketAddress] = []
            for case .address(let host) in records {
                addresses.append(SocketAddress(canonicalHost: host, port: UInt16(port)))
            }
            return answer(.success(addresses), on: loop)
        }
    }

    private func answer(
        _ result: Result<[SocketAddress], ResolutionError>, on loop: EventLoop
    ) -> Future<[SocketAddress]> {
        loop.schedule(after: latency) { try result.get() }.future
    }

    private func records(of name: String) -> [Record] {
        if case .records(let records) = answers[name.lowercased()] { records } else { [] }
    }

    private func check(_ what: String, _ duration: Duration) {
        if duration < .zero { fatalError("The \(what) was set to \(duration); give zero or more.") }
    }

    private func note(_ text: String) { simulation.trace.note(text, at: simulation.now) }

    // MARK: Name servers

    /// Returns the bytes that the name servers send in reply to `query`. `nil` if they stay silent.
    func reply(to query: [UInt8], byConnection: Bool) -> [UInt8]? {
        guard var reply = NameServerReply(to: query) else { return nil }
        guard let bytes = try? fill(&reply, byConnection: byConnection) else { return nil }
        let mistake = mistakes["\(reply.question.name)".lowercased()]
        guard let mistake, !byConnection else { return bytes }
        return mistake.spoiled(reply)
    }

    /// Adds the records of the name in the question, and those of the names that its aliases lead to. Returns `nil` if
    /// there is no answer.
    private func fill(_ reply: inout NameServerReply, byConnection: Bool) throws -> [UInt8]? {
        var name = reply.question.name
        let seconds = UInt32(clamping: timeToLive.wholeNanoseconds! / 1_000_000_000)
        let type = reply.question.type
        // A cycle of aliases is an answer, too.
        for _ in 0..<20 {
            switch answers["\(name)".lowercased()] {
            case .silence: return nil
            case .failure(.nameNotFound), nil: reply.fail(.nameNotFound)
            case .failure(.noAddress): break
            case .failure: reply.fail(.serverFailed)
            case .records(let records):
                let found = records.filter { $0.type == type || $0.type == .alias }
                for record in found { try reply.add(record, of: name, timeToLive: seconds) }
                if case .alias(let target)? = found.first(where: { $0.type == .alias }) {
                    name = try DNSName(target)
                    continue
                }
                if !found.isEmpty { return reply.bytes(byConnection: byConnection) }
            }
            reply.addAuthority(of: name, timeToLive: seconds, minimum: seconds)
            break
        }
        return reply.bytes(byConnection: byConnection)
    }
}
