extension LoopSequence {
    /// Returns a sequence of tuples: one of the first elements of this sequence and of `others`, one of the second
    /// elements, and so on.
    ///
    /// While the consumer waits, the returned sequence asks each of the sequences for an element, at the same time. At
    /// most one element of each sequence is kept until all have come. If the wait is cancelled, what has come and what
    /// comes is kept for the next wait.
    ///
    /// The returned sequence ends or fails as soon as one of the sequences does. Then, and when the iterator is
    /// released, the sequences are stopped, and the elements that are kept are dropped. Traps when the iteration begins
    /// if one of `others` belongs to another loop.
    ///
    /// ```swift
    /// for try await (question, answer) in connection.lines().zip(peer.lines()) {
    ///     print(question.text, answer.text)
    /// }
    /// ```
    public func zip<each Other>(
        _ others: repeat LoopSequence<each Other>
    ) -> LoopSequence<(Element, repeat each Other)> {
        LoopSequence<(Element, repeat each Other)>(on: loop) { [loop] in
            let zip = Zip<Element, repeat each Other>(
                CombinedSource(self, on: loop), repeat CombinedSource(each others, on: loop), on: loop)
            return .init(next: zip.next, onStop: zip.stop)
        }
    }
}

/// The sources of one iteration over a zipped sequence.
private final class Zip<each Element>: CombinedWait<(repeat each Element)> {
    private let sources: (repeat CombinedSource<each Element>)
    /// What the next wait gets after the end of a source, without a tuple.
    private var ending: Result<(repeat each Element)?, any Error>?

    init(_ sources: repeat CombinedSource<each Element>, on loop: EventLoop) {
        self.sources = (repeat each sources)
        super.init(on: loop)
    }

    func next() -> Future<(repeat each Element)?> {
        if let ending { return loop.completed(ending) }
        if let tuple = takeTuple() { return loop.succeeded(tuple) }
        let future = wait()
        for source in repeat each sources { ask(source) }
        return future
    }

    func stop() {
        for source in repeat each sources {
            source.stop()
            source.drop()
        }
        waiting.take()?.cancel()
    }

    private func ask<One>(_ source: CombinedSource<One>) {
        source.ask { [self] arrival in
            switch arrival {
            case .success(true): deliver()
            case .success(false): end(.success(nil))
            case .failure(let error): end(.failure(error))
            }
        }
    }

    private func deliver() {
        guard waiting != nil, let tuple = takeTuple() else { return }
        waiting.take()?.succeed(tuple)
    }

    private func end(_ result: Result<(repeat each Element)?, any Error>) {
        let waiting = waiting.take()
        stop()
        if let waiting { waiting.complete(result) } else { ending = result }
    }

    /// Takes an element of each source, if all have one.
    private func takeTuple() -> (repeat each Element)? {
        for source in repeat each sources { guard source.hasElement else { return nil } }
        return (repeat (each sources).take())
    }
}
