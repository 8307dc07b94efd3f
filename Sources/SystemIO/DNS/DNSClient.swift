internal import ByteStreams
internal import Futures

/// The part of the resolver that talks to name servers, for one loop and one configuration.
final class DNSClient {
    let loop: LoopCore
    let configuration: ResolvConf
    let settings: DNSSettings
    private let counts: DNSCounts
    private let servers: [NameServer]
    private var turn = 0
    private let cache: FutureCache<DNSQuestion, DNSAnswer>
    private let flights: KeyedSingleFlight<DNSQuestion, DNSAnswer>
    private let slots: FutureSemaphore

    init(_ configuration: ResolvConf, _ settings: DNSSettings, _ counts: DNSCounts, on loop: LoopCore) {
        self.loop = loop
        self.configuration = configuration
        self.settings = settings
        self.counts = counts
        servers = (settings.servers ?? configuration.servers).map(NameServer.init)
        cache = FutureCache(costLimit: settings.maxCached, on: loop)
        flights = KeyedSingleFlight(on: loop)
        slots = FutureSemaphore(count: settings.maxConcurrent, on: loop)
    }

    /// Completes with the answer to `question`, which may have no records.
    func answer(_ question: DNSQuestion) -> Future<DNSAnswer> {
        counts.value.questions += 1
        if let known = cache.value(for: question) {
            counts.value.cacheHits += 1
            return loop.succeeded(known)
        }
        if flights.isPerforming(question) { counts.value.shared += 1 }
        return flights.perform(question) { [self] in
            DNSLookup(question, self).run().tap { [self] in keep($0) }
        }
    }

    private func keep(_ answer: DNSAnswer) {
        let timeToLive = answer.timeToLive(at: loop.now)
        guard timeToLive > .zero else { return }
        cache.set(answer, for: answer.question, expiresAfter: timeToLive, cost: answer.cost)
    }

    /// Returns the servers in the order in which to ask them now, each once per attempt. Servers that recently gave no
    /// answer come last.
    func serversInLine() -> [NameServer] {
        let (now, first) = (loop.now, configuration.rotates ? turn % servers.count : 0)
        turn &+= 1
        let all = servers[first...] + servers[..<first]
        let order = all.filter { !$0.isSilent(at: now) } + all.filter { $0.isSilent(at: now) }
        return (0..<configuration.attempts).flatMap { _ in order }
    }

    // MARK: One question to one server

    /// Completes with the answer of `server`. Fails with `NameServerFailure` if the answer is useless, or does not
    /// arrive in time.
    func exchange(_ question: DNSQuestion, with server: NameServer) -> Future<DNSResponse> {
        slots.with { [self] in
            let query = query(question)
            return try ask(query, server, within: configuration.timeout).flatMap { [self] response in
                server.answered()
                return response.isTruncated ? try askForMore(query, server) : loop.succeeded(response)
            }
        }
        .map { [self] in try accepted($0, server) }
        .mapError { [self] in explained($0, server) }
    }

    private func query(_ question: DNSQuestion) -> DNSQuery {
        let name = settings.randomizesCase ? question.name.withRandomCase(using: &loop.random) : question.name
        return DNSQuery(
            id: UInt16.random(in: .min ... .max, using: &loop.random),
            question: DNSQuestion(name, question.type), hasRandomCase: settings.randomizesCase)
    }

    private func ask(
        _ query: DNSQuery, _ server: NameServer, within time: Duration
    ) throws -> Future<DNSResponse> {
        let socket = try settings.transport.open(server.address, loop)
        counts.value.queries += 1
        return socket.send(query.bytes).flatMap { [self] in receive(socket, query) }
            .timeout(after: time)
            .always { socket.close() }
    }

    /// Waits for the datagram that answers `query`. Ignores others, which may be late or forged.
    private func receive(_ socket: any DNSSocket, _ query: DNSQuery) -> Future<DNSResponse> {
        socket.receive().flatMap { [self] datagram in
            if let response = try DNSResponse.read(datagram.bytes, isCut: datagram.isCut, to: query) {
                return loop.succeeded(response)
            }
            counts.value.ignoredAnswers += 1
            return receive(socket, query)
        }
    }

    /// The time to wait for a larger datagram before the query is sent by TCP.
    private static let patience = Duration.milliseconds(250)

    /// Asks with EDNS0 for an answer that does not fit into a usual datagram, and by TCP if that fails. No other query
    /// uses EDNS0, because some servers refuse it or answer it wrongly, and some middleboxes drop it.
    private func askForMore(_ query: DNSQuery, _ server: NameServer) throws -> Future<DNSResponse> {
        var large = self.query(query.question)
        large.takesLargeAnswers = true
        return try ask(large, server, within: Self.patience)
            .map { response in response.code == .noError && !response.answers.isEmpty ? response : nil }
            .recover { _ in nil }
            .flatMap { [self] in $0.map { loop.succeeded($0) } ?? askByConnection(query, server) }
    }

    private func askByConnection(_ query: DNSQuery, _ server: NameServer) -> Future<DNSResponse> {
        counts.value.truncatedAnswers += 1
        return settings.transport.ask(query.bytes, server.address, loop)
            .timeout(after: configuration.timeout)
            .map { bytes in
                let response = try DNSResponse.read(bytes, byConnection: true, to: query)
                guard let response, !response.isTruncated else {
                    throw DNSFault("it does not answer the question")
                }
                return response
            }
    }

    /// Returns `response` if it answers the question. Throws `NameServerFailure` otherwise.
    private func accepted(_ response: DNSResponse, _ server: NameServer) throws -> DNSResponse {
        switch response.code {
        case .noError where response.isReferral:
            throw NameServerFailure(
                text:
                    "\(server.address) has no answer, and does not ask other servers (use a recursive name server)"
            )
        case .noError, .nameNotFound: return response
        // Records remain valid even if the code is a newer one, or one for updates.
        case let code where code.name == nil && !response.answers.isEmpty: return response
        default:
            throw NameServerFailure(text: "\(server.address) answered with an error (\(response.code))")
        }
    }

    private func explained(_ error: any Error, _ server: NameServer) -> any Error {
        switch error {
        case FutureError.timedOut(after: let time):
            counts.value.silences += 1
            let failure = NameServerFailure(
                text: "\(server.address) gave no answer within \(time)", isSilence: true)
            server.gaveNoAnswer(at: loop.now)
            if loop.isObserved, server.warnings.admits(at: loop.clock) {
                loop.tell(
                    .warning("\(failure.text), and is asked after all others for \(NameServer.silence)"))
            }
            return failure
        case let fault as DNSFault:
            return NameServerFailure(text: "\(server.address) sent a malformed answer: \(fault.text)")
        case is SystemError, is StreamError, is ConnectError:
            server.gaveNoAnswer(at: loop.now)
            return NameServerFailure(text: "\(server.address) could not be asked: \(error)")
        default: return error
        }
    }
}
