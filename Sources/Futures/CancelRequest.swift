/// How a producer answers the request to cancel its future.
public enum CancelResponse<Value> {
    /// Cancel the future now.
    case cancel
    /// Complete the future with this.
    case complete(Result<Value, any Error>)
    /// The work goes on; all wait for its end.
    case `continue`
}

final class CancelHandler<Value>: Producer {
    private let handler: () -> CancelResponse<Value>

    init(_ handler: @escaping () -> CancelResponse<Value>) { self.handler = handler }

    override func cancellationRequested(by cell: Cell) -> Answer {
        switch handler() {
        case .cancel: return .cancel
        case .continue: return .willComplete
        case .complete(let result):
            cell.complete(result)
            return .willComplete
        }
    }
}

extension Promise {
    /// Answers requests to cancel the future: called within ``Future/cancel()``, and when the last consumer goes.
    ///
    /// Replaces the handler that was set before. It is released when the future completes.
    /// Without one, a request cancels the future at once and a later ``succeed(_:)`` returns `false`.
    public func onCancelRequest(_ handler: @escaping () -> CancelResponse<Value>) {
        guard !cell.isCompleted else { return }
        cell.setProducer(CancelHandler(handler))
    }
}
