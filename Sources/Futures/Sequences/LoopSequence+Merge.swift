extension LoopSequence {
    /// Returns a sequence of the elements of this sequence and of `others`, in the order in which they come.
    ///
    /// While the consumer waits, the returned sequence asks each of the sequences for an element. While the consumer is
    /// busy, at most one element of each sequence comes and is kept. If the wait is cancelled, what comes is kept for
    /// the next wait. When the iterator is released, the elements that are kept are dropped.
    ///
    /// The returned sequence ends when all sequences have ended. If one of them fails, the iteration first delivers the
    /// elements that came before, then throws the error. The others are stopped as soon as one of them fails. Traps
    /// when the iteration begins if one of `others` belongs to another loop.
    ///
    /// ```swift
    /// for try await line in connection.lines().merge(with: peer.lines()) { print(line.text) }
    /// ```
    public func merge(with others: LoopSequence...) -> LoopSequence {
        LoopSequence(on: loop) { [loop] in
            let merge = Merge(([self] + others).map { CombinedSource($0, on: loop) }, on: loop)
            return AsyncIterator(next: merge.next, onStop: merge.stop)
        }
    }
}

/// The sources of one iteration over a merged sequence.
private final class Merge<Element>: CombinedWait<Element> {
    private let sources: [CombinedSource<Element>]
    /// The sources with an element that nobody has asked for, in the order in which the elements came.
    private var arrivals = Fifo<CombinedSource<Element>>()
    private var failure: (any Error)?

    init(_ sources: [CombinedSource<Element>], on loop: EventLoop) {
        self.sources = sources
        super.init(on: loop)
    }

    func next() -> Future<Element?> {
        if let source = arrivals.takeFirst() { return loop.succeeded(source.take()) }
        if let failure = failure.take() { return loop.failed(failure) }
        if isOver { return loop.succeeded(nil) }
        let future = wait()
        for source in sources { source.ask { [self] arrival in arrived(arrival, from: source) } }
        return future
    }

    func stop() {
        for source in sources { source.stop() }
        waiting.take()?.cancel()
    }

    private var isOver: Bool { sources.allSatisfy(\.isOver) }

    private func arrived(_ arrival: Result<Bool, any Error>, from source: CombinedSource<Element>) {
        switch arrival {
        case .success(true):
            guard let waiting = waiting.take() else { return arrivals.append(source) }
            waiting.succeed(source.take())
        case .success(false):
            if isOver { waiting.take()?.succeed(nil) }
        case .failure(let error):
            let waiting = waiting.take()
            stop()
            if let waiting { waiting.fail(error) } else { failure = error }
        }
    }
}
