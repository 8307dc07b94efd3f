extension LoopSequence {
    /// Returns a sequence that calls `step` with each element of this sequence, and delivers the values of
    /// the futures that `step` returns. The values come in the order of the elements.
    ///
    /// Up to `maxConcurrent` futures are in progress at a time. A future that has completed still counts
    /// until its value is delivered. While `maxConcurrent` futures are in progress, or while the consumer
    /// asks for no value, the returned sequence asks this sequence for no more elements.
    ///
    /// The first failure of this sequence, of `step`, or of a future ends the returned sequence. The
    /// iteration first delivers the values before the failure, and then throws the error. When the iterator
    /// is released, the futures in progress are asked to cancel. If `maxConcurrent` is not positive, the
    /// iteration throws ``FutureError/invalidArgument(_:)``.
    ///
    /// ```swift
    /// let pages = connection.lines().mapFuture(maxConcurrent: 4) { line in
    ///     fetch(String(decoding: line, as: UTF8.self))
    /// }
    /// for try await page in pages { connection.write(page) }
    /// ```
    public func mapFuture<NewElement>(
        maxConcurrent limit: Int = 1, _ step: @escaping (Element) throws -> Future<NewElement>
    ) -> LoopSequence<NewElement> {
        steps(limit: limit, cancellingOlder: false, step)
    }

    /// Returns a sequence that calls `step` with each element of this sequence, and delivers only values for
    /// the latest element. When a new element comes, the future for the previous element is asked to cancel,
    /// and the value of that future is dropped.
    ///
    /// While the consumer waits, the returned sequence asks this sequence for elements, even if a future is
    /// in progress. Everything else is the same as in ``mapFuture(maxConcurrent:_:)``.
    ///
    /// ```swift
    /// let answers = connection.lines().mapLatest { fetch(String(decoding: $0, as: UTF8.self)) }
    /// for try await answer in answers { connection.write(answer) }
    /// ```
    public func mapLatest<NewElement>(
        _ step: @escaping (Element) throws -> Future<NewElement>
    ) -> LoopSequence<NewElement> {
        steps(limit: 1, cancellingOlder: true, step)
    }

    private func steps<NewElement>(
        limit: Int, cancellingOlder: Bool, _ step: @escaping (Element) throws -> Future<NewElement>
    ) -> LoopSequence<NewElement> {
        LoopSequence<NewElement>(on: loop) {
            guard limit > 0 else { return .init { loop.failed(FutureError.unsuitableLimit(limit)) } }
            let source = CombinedSource(self, on: loop)
            let steps = Steps(source, on: loop, limit: limit, cancelsOlder: cancellingOlder, step: step)
            return LoopSequence<NewElement>.AsyncIterator(next: steps.next, onStop: steps.stop)
        }
    }
}

/// The steps in progress of one iteration.
private final class Steps<Element, NewElement>: CombinedWait<NewElement> {
    private struct InProgress {
        let future: Future<NewElement>
        let observer: Cell
    }

    private let source: CombinedSource<Element>
    private let limit: Int
    private let cancelsOlder: Bool
    private let step: (Element) throws -> Future<NewElement>
    private var inProgress = Fifo<InProgress>()
    private var isStopped = false

    init(
        _ source: CombinedSource<Element>, on loop: EventLoop, limit: Int, cancelsOlder: Bool,
        step: @escaping (Element) throws -> Future<NewElement>
    ) {
        self.source = source
        self.limit = limit
        self.cancelsOlder = cancelsOlder
        self.step = step
        super.init(on: loop)
    }

    func next() -> Future<NewElement?> {
        let future = wait()
        advance()
        return future
    }

    func stop() {
        let (inProgress, waiting) = (exchange(&self.inProgress, with: Fifo()), waiting.take())
        isStopped = true
        source.stop()
        for step in inProgress.all { step.observer.stopObserving(cancelling: true) }
        waiting?.cancel()
    }

    /// Delivers the next value if it is there. Otherwise asks the source for an element if the limit allows
    /// it.
    private func advance() {
        guard let waiting else { return }
        if let result = inProgress.first?.future.result {
            _ = inProgress.takeFirst()
            self.waiting = nil
            waiting.complete(result.map { .some($0) })
        } else if !source.isOver, cancelsOlder || inProgress.count < limit {
            source.ask { [self] arrival in arrived(arrival) }
        } else if source.isOver, inProgress.isEmpty {
            self.waiting = nil
            waiting.succeed(nil)
        }
    }

    private func arrived(_ arrival: Result<Bool, any Error>) {
        switch arrival {
        case .success(true): start(source.take())
        case .success(false): break
        case .failure(let error): add(loop.failed(error))
        }
        advance()
    }

    private func start(_ element: Element) {
        let older = inProgress
        if cancelsOlder { inProgress = Fifo() }
        do { add(try step(element).given(to: loop.core)) } catch { add(loop.failed(error)) }
        if cancelsOlder { for step in older.all { step.observer.stopObserving(cancelling: true) } }
    }

    private func add(_ future: Future<NewElement>) {
        // `step` may have released the iterator.
        guard !isStopped else {
            future.ignoreFailure().cancel()
            return
        }
        let observer = CompleteObserver<NewElement> { [self] _ in advance() }
        inProgress.append(InProgress(future: future, observer: future.cell.observe(observer, when: .all)))
    }
}
