internal import Futures

/// The requests of a client that wait to be written, in order.
final class RequestQueue<Message> {
    private let loop: LoopCore
    private let timeout: Duration?
    private var requests = Fifo<PipelinedRequest<Message>>()
    private(set) var count = 0
    private(set) var byteCount = 0
    /// Called with a request that has waited too long, and has left the line.
    private let expire: (PipelinedRequest<Message>) -> Void

    init(
        on loop: LoopCore, timeout: Duration?, expire: @escaping (PipelinedRequest<Message>) -> Void
    ) {
        self.loop = loop
        self.timeout = timeout
        self.expire = expire
    }

    var isEmpty: Bool { count == 0 }

    func append(_ request: PipelinedRequest<Message>) {
        requests.append(request)
        enter(request)
    }

    /// Puts `first` before all that wait.
    func prepend(_ first: [PipelinedRequest<Message>]) {
        guard !first.isEmpty else { return }
        let others = requests.all
        requests = Fifo()
        for request in first {
            requests.append(request)
            enter(request)
        }
        for request in others { requests.append(request) }
    }

    func takeFirst() -> PipelinedRequest<Message>? {
        while let request = requests.takeFirst() {
            guard request.queue === self else { continue }
            leave(request)
            return request
        }
        return nil
    }

    func takeAll() -> [PipelinedRequest<Message>] {
        var all: [PipelinedRequest<Message>] = []
        while let request = takeFirst() { all.append(request) }
        return all
    }

    /// Removes a request, which leaves a gap. Gaps are removed when they outnumber the requests.
    func remove(_ request: PipelinedRequest<Message>) {
        leave(request)
        if requests.count > 2 * count + 32 { requests.removeAll { $0.queue == nil } }
    }

    private func enter(_ request: PipelinedRequest<Message>) {
        request.queue = self
        count += 1
        byteCount += request.bytes.count
        guard let timeout else { return }
        let timer = loop.schedule(after: timeout, keepsLoopAlive: false) { [unowned self] in
            remove(request)
            expire(request)
        }
        timer.future.ignoreFailure()
        request.timer = timer
    }

    private func leave(_ request: PipelinedRequest<Message>) {
        request.queue = nil
        request.timer.take()?.cancel()
        count -= 1
        byteCount -= request.bytes.count
    }
}
