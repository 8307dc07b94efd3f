/// A queue of elements that come of themselves, and wait here until somebody asks.
package final class ElementQueue<Element> {
    private let loop: LoopCore
    private var elements = Fifo<Result<Element, any Error>>()
    private var waiting: [Promise<Element?>] = []
    private var isFinished = false

    package init(on loop: LoopCore) { self.loop = loop }

    package func add(_ element: Result<Element, any Error>) {
        if waiting.isEmpty {
            elements.append(element)
        } else {
            waiting.removeFirst().complete(element.map { .some($0) })
        }
    }

    /// Ends the queue: nothing will be added any more.
    package func finish() {
        isFinished = true
        let waiting = waiting
        self.waiting = []
        for promise in waiting { promise.succeed(nil) }
    }

    /// Completes with the next element, or with `nil` when none will come. Cancelling it takes none.
    package func next() -> Future<Element?> {
        if let element = elements.takeFirst() { return loop.completed(element.map { .some($0) }) }
        guard !isFinished else { return loop.succeeded(nil) }
        let promise = loop.makePromise(of: Element?.self)
        promise.onCancelRequest { [self, unowned promise] in
            let promise = promise
            promise.cancel()
            waiting.removeAll { $0 === promise }
            return .continue
        }
        waiting.append(promise)
        return promise.future
    }

    /// The elements that nobody has asked for yet.
    package var left: [Result<Element, any Error>] { elements.all }

    package func contains(where predicate: (Element) -> Bool) -> Bool {
        left.contains { element in (try? element.get()).map(predicate) ?? false }
    }
}
