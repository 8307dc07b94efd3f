internal import Futures

/// Asks one name server after another, until one gives an answer.
final class DNSLookup {
    private let question: DNSQuestion
    private let client: DNSClient
    private var chain: AliasChain
    /// The servers left to ask, in order. A server occurs once for each attempt.
    private var line: [NameServer] = []
    private var failures: [NameServerFailure] = []

    init(_ question: DNSQuestion, _ client: DNSClient) {
        self.question = question
        self.client = client
        chain = AliasChain(question.name)
    }

    /// Completes with the answer. Fails with `ResolutionError` if no server gives one.
    func run() -> Future<DNSAnswer> {
        line = client.serversInLine()
        return askNext()
    }

    private func askNext() -> Future<DNSAnswer> {
        guard !line.isEmpty else { return client.loop.failed(failure) }
        let server = line.removeFirst()
        let current = DNSQuestion(chain.names.last!, question.type)
        return client.exchange(current, with: server)
            .flatMap { [self] response in try judge(response, of: server) }
            .flatMapError { [self] error in
                guard let failure = error as? NameServerFailure else { throw error }
                failures.append(failure)
                if !failure.isSilence { line.removeAll { $0 === server } }
                return askNext()
            }
    }

    private func judge(_ response: DNSResponse, of server: NameServer) throws -> Future<DNSAnswer> {
        let found: AliasChain.Finding?
        do throws(DNSFault) {
            found = try chain.find(question.type, in: response)
        } catch {
            // The other servers would answer the same.
            throw ResolutionError(
                name: "\(question.name)", code: .nameServerFailed, server: server.address,
                reason: "\(server.address) says that \(error.text)")
        }
        guard let found else { return run() }
        let settings = client.settings
        let most = found.records.isEmpty ? settings.maxNegativeTimeToLive : settings.maxTimeToLive
        return client.loop.succeeded(
            DNSAnswer(
                question: question, records: found.records, isNameMissing: found.isNameMissing,
                server: server.address,
                expiry: client.loop.now.advanced(by: min(.seconds(Int(found.timeToLive)), most))))
    }

    private var failure: ResolutionError {
        var texts: [String] = []
        for failure in failures where !texts.contains(failure.text) { texts.append(failure.text) }
        let isSilence = failures.allSatisfy(\.isSilence)
        return ResolutionError(
            name: "\(question.name)", code: isSilence ? .timedOut : .nameServerFailed,
            reason: texts.joined(separator: "; "))
    }
}
