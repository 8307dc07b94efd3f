/// A queue of elements from a source that does not wait to be asked. Elements wait here until somebody asks
/// for them.
package final class ElementQueue<Element> {
    private let loop: LoopCore
    private var elements = Fifo<Result<Element, any Error>>()
    private let waiting: WaitLine<Void>
    private var isFinished = false

    package init(on loop: LoopCore) {
        self.loop = loop
        waiting = WaitLine(on: loop, name: "sequence")
    }

    package func add(_ element: Result<Element, any Error>) {
        guard let waiter = waiting.takeFirst() else { return elements.append(element) }
        waiter.target.complete(element.map { Element?.some($0) })
    }

    /// Ends the queue. No element may be added afterwards. Requests that wait complete with `nil`.
    package func finish() {
        isFinished = true
        for waiter in waiting.takeAll() { waiter.succeed(Element?.none) }
    }

    /// Completes with the next element. Completes with `nil` if the queue has ended and is empty. Cancelling
    /// the returned future takes no element.
    package func next() -> Future<Element?> {
        if let element = elements.takeFirst() { return loop.completed(element.map { .some($0) }) }
        guard !isFinished else { return loop.succeeded(nil) }
        return waiting.wait(for: Element?.self)
    }

    /// The elements that nobody has asked for yet.
    package var left: [Result<Element, any Error>] { elements.all }

    package func contains(where predicate: (Element) -> Bool) -> Bool {
        left.contains { element in (try? element.get()).map(predicate) ?? false }
    }
}
