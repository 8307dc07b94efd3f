internal import Futures

extension PipelinedClient {
    func append(_ request: PipelinedRequest<Message>) {
        waiting.append(request)
        request.client = self
        waitingBytes += request.bytes.count
        guard let timeout = limits.waitTimeout else { return }
        request.timer = core.schedule(after: timeout, keepsLoopAlive: false) { [unowned self] in
            remove(request)
            fail(request, PipelineError.notSent(after: timeout, cause: lastError))
            endIfDrained()
        }
    }

    /// Puts `first` before all that wait.
    func prepend(_ first: [PipelinedRequest<Message>]) {
        guard !first.isEmpty else { return }
        let others = waiting.takeAll()
        for request in first { append(request) }
        for request in others { waiting.append(request) }
    }

    func takeFirst() -> PipelinedRequest<Message>? {
        guard let request = waiting.first else { return nil }
        remove(request)
        return request
    }

    func remove(_ request: PipelinedRequest<Message>) {
        waiting.remove(request)
        request.client = nil
        request.timer.take()?.cancel()
        waitingBytes -= request.bytes.count
    }
}
