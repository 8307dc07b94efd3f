/// The wait of a consumer for an element of a combined sequence. If it is cancelled, what comes is kept for the next wait.
class CombinedWait<Element> {
    final let loop: EventLoop
    final var waiting: Promise<Element?>?

    init(on loop: EventLoop) { self.loop = loop.core }

    final func wait() -> Future<Element?> {
        let promise = loop.makePromise(of: Element?.self)
        promise.onCancelRequest { [self] in
            waiting.take()?.cancel()
            return .continue
        }
        waiting = promise
        return promise.future
    }
}

/// A sequence that another one is made of, alone or with others. It gives one element at a time, and keeps that element
/// until somebody takes it.
final class CombinedSource<Element> {
    /// `nil` after the end.
    private var iterator: LoopSequence<Element>.AsyncIterator?
    /// The observer of the element that the sequence has been asked for.
    private var asking: Cell?
    private var element: Element?

    /// Begins to iterate over `sequence`. Traps if that is a sequence of another loop than `loop`.
    init(_ sequence: LoopSequence<Element>, on loop: EventLoop) {
        let iterator = sequence.makeAsyncIterator()
        iterator.source.belong(to: loop.core)
        self.iterator = iterator
    }

    var hasElement: Bool { element != nil }

    /// Whether the sequence has ended or failed, or was stopped.
    var isOver: Bool { iterator == nil }

    func take() -> Element { element.take()! }

    /// Asks the sequence for an element, unless there is one, or one is on its way. Then calls `arrived`, never within
    /// this call: with `true` if there is an element now, with `false` at the end.
    func ask(_ arrived: @escaping (Result<Bool, any Error>) -> Void) {
        guard let iterator, asking == nil, !hasElement else { return }
        let observer = CompleteObserver<Element?> { [self] result in
            asking = nil
            if case .success(let next?) = result { element = next } else { stop() }
            arrived(result.map { $0 != nil })
        }
        asking = iterator.pull().cell.observe(observer, when: .all)
    }

    /// Drops the element that has arrived.
    func drop() { withExtendedLifetime(element.take()) {} }

    /// Ends the iteration. An element that has arrived can still be taken.
    func stop() {
        asking.take()?.stopObserving(cancelling: true)
        withExtendedLifetime(iterator.take()) {}
    }
}
