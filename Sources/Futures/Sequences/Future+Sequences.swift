extension Future {
    /// A sequence with one element: the value of this future. If this future fails, the iteration throws the
    /// error.
    ///
    /// If the task that iterates is cancelled, this future is asked to cancel, unless other code waits for
    /// it.
    public var values: LoopSequence<Value> {
        let loop = loop
        return LoopSequence(on: loop) {
            var isDelivered = false
            return LoopSequence.AsyncIterator(next: {
                guard !isDelivered else { return loop.succeeded(nil) }
                return self.map { value in
                    isDelivered = true
                    return .some(value)
                }
            })
        }
    }

    /// Returns a sequence of the values of `futures`, in the order in which the futures complete. If a future
    /// fails, the iteration first delivers the values of the futures that completed earlier, and then throws
    /// the error.
    ///
    /// The sequence notes the order from this call on, even if the iteration begins later. Each value is
    /// delivered once: a second iteration gets only the values that the first iteration did not take.
    ///
    /// The sequence ends when its iterator is released, when the iteration has thrown, or when the sequence
    /// is released before an iteration. The pending futures are then asked to cancel, as `cancelRemaining`
    /// says. Even with `.always`, a future for which other code waits is not cancelled.
    ///
    /// If `futures` is empty, the sequence belongs to `loop`, or to ``EventLoop/current`` if `loop` is `nil`.
    /// In this case, the call traps if `loop` and ``EventLoop/current`` are both `nil`. Also traps if
    /// `futures` belong to different loops, or to a loop other than `loop`.
    ///
    /// ```swift
    /// for try await page in Future.inCompletionOrder(names.map { fetch($0) }) { print(page.count) }
    /// ```
    public static func inCompletionOrder(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always,
        on loop: EventLoop? = nil
    ) -> LoopSequence<Value> {
        let arrivals = Array(futures).withCells { cells in
            Arrivals<Value>(of: cells, cancelRemaining, on: .ofGroup(cells, loop))
        }
        let queue = arrivals.queue
        return LoopSequence(on: queue.loop) {
            arrivals.isIterated = true
            return LoopSequence.AsyncIterator(asking: queue, on: queue.loop, next: queue.next) {
                arrivals.stop()
            }
        }
    }
}

/// The outcomes of a group of futures, in the order in which they arrive.
private final class Arrivals<Value> {
    let queue: ElementQueue<Value>
    var isIterated = false
    private let group: Group
    private var pending: Int
    private var hasCancelled = false

    init(of cells: Span<Cell>, _ cancelRemaining: CancelRemaining, on loop: LoopCore) {
        queue = ElementQueue(on: loop)
        group = Group(
            target: .plain(loop, state: .pending, of: Void.self), cancelRemaining: cancelRemaining)
        pending = cells.count
        // Unowned, since this object ends its group when it is released. That may be during `add`.
        let listener = ArrivalListener { [unowned self, queue] source, _ in
            pending -= 1
            let isLast = pending == 0
            if source.state == .cancelled { hasCancelled = true }
            queue.add(Future(source.object))
            if isLast { queue.finish() }
        }
        group.wait(
            for: cells, queued: .all.on(.loop), receiver: listener, behavior: ArrivalListener.memberBehavior)
        if cells.isEmpty { queue.finish() }
    }

    deinit {
        stop()
        guard !isIterated else { return }
        for case .failure(let error) in queue.left { _ = queue.loop.failed(error, of: Void.self) }
    }

    func stop() {
        queue.finish()
        if hasCancelled { group.fail(CancellationError()) } else { group.target.succeed(()) }
    }
}

extension LoopSequence {
    /// Completes with the first element, or with `nil` if the sequence ends without an element. Then stops
    /// the source of the sequence.
    public func first() -> Future<Element?> {
        let iterator = makeAsyncIterator()
        // An error handler passes the element on at once. If the element waited for a callback, a
        // cancellation before that callback would lose it.
        return iterator.pull().mapError { error in withExtendedLifetime(iterator) { error } }
    }
}
