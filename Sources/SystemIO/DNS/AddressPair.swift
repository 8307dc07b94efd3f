internal import Futures

/// The two questions for the addresses of a name, IPv6 and IPv4, asked at the same time.
///
/// Once one of them is answered with addresses, the other gets 250 ms more. So a server that is silent about one family
/// delays the other only a little, and not for the whole time limit. Some servers report a name that has addresses of
/// one family as missing in the other. After such a report, the other question gets the time limit of one query in
/// addition.
final class AddressPair {
    private let client: DNSClient
    private let promise: Promise<[DNSAnswer]>
    private var questions: [Future<DNSAnswer>] = []
    private var results: [Result<DNSAnswer, any Error>?] = [nil, nil]
    private var limit: ScheduledTask<Void>?

    /// How much longer to wait for the second family.
    static let patience = Duration.milliseconds(250)

    init(_ client: DNSClient) {
        self.client = client
        promise = client.loop.makePromise()
    }

    /// Completes with the answers that have arrived, IPv6 first. If they contain no addresses, fails with the error of
    /// a question that failed.
    func ask(_ name: DNSName) -> Future<[DNSAnswer]> {
        promise.isCalled("a look-up of the addresses of \(name)")
        promise.onCancelRequest { [self] in
            end()
            return .cancel
        }
        questions = [DNSType.ipv6, .ipv4].enumerated().map { index, type in
            client.answer(DNSQuestion(name, type)).tapResult { [self] in answered(index, $0) }
        }
        for question in questions { question.ignoreFailure() }
        return promise.future
    }

    private func answered(_ index: Int, _ result: Result<DNSAnswer, any Error>) {
        results[index] = result
        if results.allSatisfy({ $0 != nil }) { return finish() }
        guard let answer = try? result.get(), answer.isNameMissing || !answer.records.isEmpty else { return }
        // The addition leaves time to ask the next server if one is silent.
        let patience = Self.patience + (answer.isNameMissing ? client.configuration.timeout : .zero)
        limit = client.loop.schedule(after: patience) { [self] in finish() }
    }

    private func finish() {
        end()
        let answers = results.compactMap { try? $0?.get() }
        let failures = results.compactMap { $0?.thrownError }
        // A server that is silent about one family may report the name as missing in the other.
        let isMissing = answers.contains(where: \.isNameMissing) && failures.allSatisfy(\.isSilence)
        if let failure = failures.first, !isMissing, answers.allSatisfy(\.records.isEmpty) {
            promise.fail(failure)
        } else {
            promise.succeed(answers)
        }
    }

    private func end() {
        limit?.cancel()
        for question in questions { question.cancel() }
        questions = []
    }
}

extension Error {
    fileprivate var isSilence: Bool { (self as? ResolutionError)?.code == .timedOut }
}
