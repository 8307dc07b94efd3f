internal import Futures

/// The two questions for the addresses of a name, IPv6 and IPv4, which are asked at the same time.
///
/// When one of them is answered with addresses, the other has 250 ms more. So a server that is silent about one
/// family delays the other family a little, and not for the whole time limit.
final class AddressPair {
    private let loop: EventLoop
    private let promise: Promise<[DNSAnswer]>
    private var questions: [Future<DNSAnswer>] = []
    private var results: [Result<DNSAnswer, any Error>?] = [nil, nil]
    private var limit: ScheduledTask<Void>?

    /// How much longer the second family is waited for.
    static let patience = Duration.milliseconds(250)

    init(on loop: EventLoop) {
        self.loop = loop
        promise = loop.makePromise()
    }

    /// Completes with the answers that have come, IPv6 first. If there are no addresses, fails with the error of a
    /// question that failed.
    func ask(_ name: DNSName, _ client: DNSClient) -> Future<[DNSAnswer]> {
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
        let answer = try? result.get()
        // A name that does not exist has addresses of no family.
        if results.allSatisfy({ $0 != nil }) || answer?.isNameMissing == true { return finish() }
        guard answer?.records.isEmpty == false else { return }
        let limit = loop.schedule(after: Self.patience) { [self] in finish() }
        limit.future.ignoreFailure()
        self.limit = limit
    }

    private func finish() {
        end()
        let answers = results.compactMap { try? $0?.get() }
        let isSettled = answers.contains { !$0.records.isEmpty || $0.isNameMissing }
        if isSettled || answers.count == results.count {
            promise.succeed(answers)
        } else {
            promise.complete(results.compactMap { $0 }.first { !$0.isSuccess }!.map { [$0] })
        }
    }

    private func end() {
        limit?.cancel()
        for question in questions { question.cancel() }
        questions = []
    }
}
