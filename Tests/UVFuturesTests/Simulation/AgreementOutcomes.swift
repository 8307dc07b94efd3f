import UVFutures

/// What has become of each step, in the order of the steps.
final class AgreementOutcomes {
    private var names: [String] = []
    private var results: [String?] = []
    /// Failures that nobody observed, and those that servers reported. Their order is not determined.
    private var reports: [String] = []

    var count: Int { names.count }

    var lines: [String] {
        zip(names, results).map { "\($0): \($1 ?? "pending")" } + reports.sorted().map { "reported: \($0)" }
    }

    /// Makes a line for something whose result is not known yet, and returns its index.
    func add(_ name: String, _ result: String? = nil) -> Int {
        names.append(name)
        results.append(result)
        return names.count - 1
    }

    func report(_ text: String) { reports.append(text) }

    /// Notes what `future` completes with, as `text` puts it.
    func watch<Value>(
        _ name: String, of end: AgreementEnd? = nil, _ future: Future<Value>,
        _ text: @escaping (Value) -> String
    ) { watch(add(name), of: end, future, text) }

    func watch<Value>(
        _ line: Int, of end: AgreementEnd?, _ future: Future<Value>, _ text: @escaping (Value) -> String
    ) {
        future.whenComplete { result in
            switch result {
            case .success(let value): self.results[line] = text(value)
            case .failure(let error):
                self.results[line] = end?.name(of: error) ?? agreementName(of: error)
            }
        }
    }
}

/// The error without what is not determined: ports, and numbers of bytes that wait.
func agreementName(of error: any Error) -> String {
    switch error {
    case is CancellationError: return "cancelled"
    case let error as SystemError:
        let ends = [error.localAddress, error.peerAddress].map { agreementName(of: $0) }
        return "\(error.code.name) of \(error.operation) at \(ends[0]) with \(ends[1])"
    case StreamError.timedOut(let limit, _, _, _): return "timed out: \(limit.name)"
    case StreamError.flushTimedOut: return "flushTimedOut"
    case StreamError.backpressureExceeded: return "backpressureExceeded"
    case StreamError.unexpectedEnd(let received): return "end after \(received.count) bytes"
    case StreamError.limitExceeded(let limit): return "limit of \(limit) exceeded"
    case let error as StreamError: return "\(error)"
    default: return "\(error)"
    }
}

func agreementName(of address: SocketAddress?) -> String {
    guard let address else { return "none" }
    return address.path.map { "\"\($0)\"" } ?? "tcp"
}
