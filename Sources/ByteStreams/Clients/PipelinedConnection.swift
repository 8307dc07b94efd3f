public import FoundationEssentials
public import Futures

/// One connection of a ``PipelinedClient``. The client's `greeting` closure sends the first requests on it.
public final class PipelinedConnection<Message> {
    public let stream: ByteStream
    private let core: LoopCore
    private let answerTimeout: Duration?
    private var underWay = Fifo<PipelinedRequest<Message>>()
    /// The time since which the server owes the next answer.
    private var owedSince: LoopInstant
    private var timer: ScheduledTask<Void>?
    /// `nil` once the connection has ended.
    private var client: PipelinedClient<Message>?

    init(_ stream: ByteStream, of client: PipelinedClient<Message>) {
        self.stream = stream
        self.client = client
        answerTimeout = client.limits.answerTimeout
        core = stream.core
        owedSince = core.now
    }

    /// The number of requests whose answers have not come.
    var count: Int { underWay.count }

    /// Sends `request` on this connection, and completes with its answer. Unlike ``PipelinedClient/send(_:mayRepeat:)``, the
    /// request never waits, and is not sent on another connection.
    ///
    /// Fails with ``PipelineError/answerLost(cause:)`` if the connection ends before the answer comes, and with
    /// `FutureError.closed` if it has ended. If the future is cancelled, the answer is dropped when it comes.
    public func send(_ request: Data) -> Future<Message> {
        core.checkThread()
        guard client != nil else { return core.failed(FutureError.closed("connection")) }
        let request = PipelinedRequest<Message>(request, mayRepeat: false)
        let future = request.begin(on: core)
        write(request)
        return future
    }

    func start<Decoder: StreamDecoder>(decodedBy decoder: Decoder) where Decoder.Message == Message {
        stream.gathersWrites = true
        let state = DecoderState(decoder)
        stream.runMessages(MessageSearch(state)) { [self] bytes in
            try receive(state.takeMessage(bytes))
            return nil
        }
        .whenComplete { [self] result in
            if case .failure(let error) = result { return end(error) }
            end(PipelineError.endedByServer, inOrder: true)
        }
    }

    func write(_ request: PipelinedRequest<Message>) {
        if underWay.isEmpty { owedSince = core.now }
        underWay.append(request)
        stream.write(request.takeBytes())
        if timer == nil { watch() }
    }

    private func receive(_ message: Message) throws {
        guard let client, !client.received(message) else { return }
        guard let request = underWay.takeFirst() else { throw PipelineError.unexpectedMessage }
        owedSince = core.now
        request.succeed(message)
        // The callbacks of the request may have ended the connection.
        self.client?.answered()
    }

    /// Checks for the answer when it is due. One timer serves all answers: it is set again for the next one.
    private func watch() {
        guard let answerTimeout, !underWay.isEmpty, client != nil else { return }
        let due = owedSince.advanced(by: answerTimeout)
        timer = core.schedule(at: due, keepsLoopAlive: false) { [unowned self] in
            timer = nil
            guard !underWay.isEmpty, core.now >= owedSince.advanced(by: answerTimeout) else { return watch() }
            end(PipelineError.answerTimedOut(after: answerTimeout))
        }
    }

    /// Ends the connection because of `error`. With `inOrder`, the server still gets everything that was written.
    func end(_ error: any Error, inOrder: Bool = false) {
        guard let client = client.take() else { return }
        timer.take()?.cancel()
        if inOrder { stream.close() } else { stream.abort() }
        var requests: [PipelinedRequest<Message>] = []
        while let request = underWay.takeFirst() {
            request.wasLost(by: error)
            requests.append(request)
        }
        client.ended(error, requests)
    }
}

@available(*, unavailable, message: "It belongs to its loop's thread; go there with loop.execute { … }.")
extension PipelinedConnection: Sendable {}
