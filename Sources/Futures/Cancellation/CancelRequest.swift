/// The answer to a request to cancel a future. A handler that was given to `Promise.onCancelRequest` returns
/// such an answer.
public enum CancelResponse<Value> {
    /// Cancels the future now.
    case cancel
    /// Completes the future with this completion, for example a value or the outcome of another future.
    case complete(FutureCompletion<Value>)
    /// Does not cancel. The work continues, and the future and the futures that wait for it stay pending
    /// until the work ends.
    case `continue`
}

extension CancelResponse {
    /// The same response without the type of the value. So promises of all types share the code that asks.
    var untyped: UntypedResponse? {
        switch self {
        case .cancel: return { _ in .cancel }
        case .continue: return nil
        case .complete(let completion):
            return { object in
                if case .using(let future) = completion {
                    if !object.lockIn(to: future.cell) { future.cancel() }
                } else {
                    object.pointer.complete(with: completion)
                }
                return .willComplete
            }
        }
    }
}

/// Completes the cell that was asked to cancel, if the response says so. Returns the answer of the producer. `nil` stands
/// for `continue`.
typealias UntypedResponse = (_ object: Cell) -> Producer.Answer

extension Promise {
    /// Registers `handler`, which answers a request to cancel the future. ``Future/cancel()`` makes such a
    /// request. There is also such a request when all code that waited for the future has been cancelled.
    ///
    /// A promise can have several handlers. A request calls all of them, in the order in which they were
    /// added. The first answer that is not `continue` counts. Each handler is called at most once. All
    /// handlers are released when the future completes.
    ///
    /// If all handlers have answered ``CancelResponse/continue``, the future stays pending until the work
    /// ends. A later request then changes nothing, unless a handler has been added since the earlier request.
    /// The later request calls only such new handlers. If a handler itself asks the same future to cancel,
    /// that second request calls no handler, and the answer to the first request decides.
    ///
    /// A handler may cancel other futures. Their handlers then run inside this handler. At most
    /// ``CancelOptions/depthLimit`` handlers run inside one another. A request beyond this limit waits until
    /// the outermost handler has returned.
    ///
    /// Without a handler, a request cancels the future at once, and a later ``succeed(_:)`` returns `false`.
    ///
    /// ```swift
    /// promise.onCancelRequest {
    ///     connection.abort()
    ///     return .cancel
    /// }
    /// ```
    public func onCancelRequest(_ handler: @escaping () -> CancelResponse<Value>) {
        onCancelRequest { _ in handler() }
    }

    /// Registers `handler`, which answers a request to cancel the future. `handler` gets the options that
    /// were given to ``Future/cancel(_:)``.
    ///
    /// Each handler is called at most once: for the first request after the handler was added.
    public func onCancelRequest(_ handler: @escaping (CancelOptions) -> CancelResponse<Value>) {
        // Not by `carrying(_:)`, which would allocate a closure more.
        let values = cell.loop.carriedValues
        attachments?.handlers.append { options in values.during { handler(options).untyped } }
    }

    /// The attachments of the future, or `nil` if the future has completed or another future decides its
    /// outcome.
    var attachments: PromiseAttachments? {
        guard !cell.isCompleted, !cell.isLockedIn else { return nil }
        if let attachments = cell.pointer.producer as? PromiseAttachments { return attachments }
        let attachments = PromiseAttachments()
        cell.setProducer(attachments)
        return attachments
    }
}

/// The producer of a promise's future. It answers requests to cancel the future. When the future has
/// completed, it cancels the futures that end together with it.
final class PromiseAttachments: Producer {
    fileprivate var handlers: [(CancelOptions) -> UntypedResponse?] = []
    /// The number of handlers that have been called. They stay in `handlers` until the end, because they may
    /// hold the promise.
    private var called = 0
    private var isAsking = false
    private var endings: [Cell] = []
    /// The handlers to call when the future has been abandoned.
    var abandoned: [() -> Void] = []
    /// The cell of the future and the number of its watch, while the loop looks whether it has been abandoned.
    var watched: (cell: CellPointer, number: UInt64)?

    func stopWatching() {
        guard let (cell, number) = watched.take() else { return }
        cell.withLoop { $0.abandonment.watches[number] = nil }
    }

    /// Cancels `future`, even if others wait for it, when the promise's future has completed.
    func cancelAtEnd<Other>(_ future: Future<Other>) { endings.append(future.cell) }

    override var answersRequests: Bool { !handlers.isEmpty }

    override func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        guard answersRequests else { return .undecided }
        // A request from within a handler waits for the answer to the first request.
        guard !isAsking else { return .willComplete }
        return cell.withLoop { $0.propagation.whileAsking { askAll(options)?(cell.object) ?? .willComplete } }
    }

    /// Calls each handler that has not been called. Returns the first answer that is not `continue`.
    private func askAll(_ options: CancelOptions) -> UntypedResponse? {
        isAsking = true
        var decision: UntypedResponse?
        while called < handlers.count {
            called += 1
            let answer = handlers[called - 1](options)
            decision = decision ?? answer
        }
        isAsking = false
        return decision
    }

    override func settled() {
        abandoned = []
        stopWatching()
        for cell in exchange(&endings, with: []) { _ = cell.requestCancellation(ignoringConsumers: true) }
    }
}
