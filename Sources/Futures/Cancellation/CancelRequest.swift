/// How a producer answers the request to cancel its future.
public enum CancelResponse<Value> {
    /// Cancel the future now.
    case cancel
    /// Complete the future so, be it with a value, or using another future.
    case complete(FutureCompletion<Value>)
    /// The work goes on; all wait for its end.
    case `continue`
}

extension CancelResponse {
    /// Does what the response says to the cell that the request came by.
    func applied(to object: Cell) -> Producer.Answer {
        switch self {
        case .cancel: return .cancel
        case .continue: return .willComplete
        case .complete(.using(let future)): if !object.lockIn(to: future.cell) { future.cancel() }
        case .complete(let completion): object.pointer.complete(with: completion)
        }
        return .willComplete
    }
}

extension Promise {
    /// Answers requests to cancel the future: called within ``Future/cancel()``, and when the last consumer goes.
    ///
    /// Each handler is called once: after ``CancelResponse/continue`` later requests wait for the end of the work,
    /// too, and so does one that a handler makes itself. Several handlers are called in the order in which they were
    /// added; the first answer that is not `continue` counts. They are released when the future completes. A handler
    /// may cancel other futures. Handlers that ask each other in this way are nested at most
    /// ``CancelOptions/depthLimit`` deep; what is deeper is asked when the first of them has returned.
    /// Without one, a request cancels the future at once and a later ``succeed(_:)`` returns `false`.
    public func onCancelRequest(_ handler: @escaping () -> CancelResponse<Value>) {
        onCancelRequest { _ in handler() }
    }

    /// Answers requests to cancel the future, knowing the options of the first ``Future/cancel(_:)``.
    public func onCancelRequest(_ handler: @escaping (CancelOptions) -> CancelResponse<Value>) {
        attachments?.handlers.append(handler)
    }

    /// What hangs on the pending future, or `nil` if something else decides about it.
    var attachments: PromiseAttachments<Value>? {
        guard !cell.isCompleted, !cell.isLockedIn else { return nil }
        if let attachments = cell.pointer.producer as? PromiseAttachments<Value> { return attachments }
        let attachments = PromiseAttachments<Value>()
        cell.setProducer(attachments)
        return attachments
    }
}

/// The producer of a promise's future: who answers requests to cancel it, and what ends together with it.
final class PromiseAttachments<Value>: AbandonmentWatch {
    fileprivate(set) var handlers: [(CancelOptions) -> CancelResponse<Value>] = []
    /// How many of the handlers have been called. They may hold the promise, and so stay to the end.
    private var called = 0
    private var isAsking = false
    private var endings: [Cell] = []

    /// Cancels `future`, whoever waits for it, when the promise's future has completed.
    func cancelAtEnd<Other>(_ future: Future<Other>) { endings.append(future.cell) }

    override var answersRequests: Bool { !handlers.isEmpty }

    override func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        guard answersRequests else { return .undecided }
        // Whoever asks from within waits for the answer, as all do.
        guard !isAsking, called < handlers.count else { return .willComplete }
        return cell.withLoop { $0.whileAsking { askAll(options).applied(to: cell.object) } }
    }

    private func askAll(_ options: CancelOptions) -> CancelResponse<Value> {
        isAsking = true
        var decision = CancelResponse<Value>.continue
        while called < handlers.count {
            called += 1
            let answer = handlers[called - 1](options)
            if case .continue = decision { decision = answer }
        }
        isAsking = false
        return decision
    }

    override func settled() {
        super.settled()
        let endings = endings
        self.endings = []
        for cell in endings { _ = cell.requestCancellation(ignoringConsumers: true) }
    }
}
