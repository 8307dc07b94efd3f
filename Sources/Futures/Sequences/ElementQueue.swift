/// A queue of elements from a source that does not wait to be asked. Elements wait here until somebody asks
/// for them.
///
/// The queue keeps each element or failure as a completed future. So most of its code does not depend on the type of
/// the elements, and needs no type information at run time.
package final class ElementQueue<Element>: ElementAsker {
    package let loop: LoopCore
    private var outcomes = Fifo<Cell>()
    /// The wait of the task that is first in line, if that task waits without a future.
    private var asking: ElementWait?
    private let waiting: WaitLine<Void>
    private var isFinished = false

    package init(on loop: LoopCore) {
        self.loop = loop
        waiting = WaitLine(on: loop, name: "sequence")
    }

    package var subject: String? { "an element of a sequence" }

    /// Adds the element or the failure of `outcome`, which has completed.
    package func add(_ outcome: Future<Element>) {
        if let wait = asking.take() {
            wait.deliver(outcome)
        } else if let waiter = waiting.takeFirst() {
            waiter.target.complete(Self.element(of: outcome))
        } else {
            outcomes.append(outcome.cell)
        }
    }

    /// Ends the queue. No element may be added afterwards. Requests that wait complete with `nil`.
    package func finish() {
        isFinished = true
        asking.take()?.end()
        for waiter in waiting.takeAll() { waiter.succeed(Element?.none) }
    }

    /// Completes with the next element. Completes with `nil` if the queue has ended and is empty. Cancelling
    /// the returned future takes no element.
    package func next() -> Future<Element?> {
        if let outcome = outcomes.takeFirst() { return loop.completed(Self.element(of: Future(outcome))) }
        guard !isFinished else { return loop.succeeded(nil) }
        return waiting.wait(for: Element?.self)
    }

    package func ask(for wait: ElementWait) -> Bool {
        if let outcome = outcomes.takeFirst() {
            wait.deliver(Future<Element>(outcome))
            return true
        }
        guard !isFinished, !loop.isShutDown, asking == nil, waiting.isEmpty else { return false }
        asking = wait
        return true
    }

    package func stopAsking(for wait: ElementWait) { if asking === wait { asking = nil } }

    /// The outcomes that nobody has asked for yet.
    package var left: [Result<Element, any Error>] { outcomes.all.map { Future($0).result! } }

    package func contains(where predicate: (Element) -> Bool) -> Bool {
        left.contains { element in (try? element.get()).map(predicate) ?? false }
    }

    private static func element(of outcome: Future<Element>) -> Result<Element?, any Error> {
        outcome.result!.map { .some($0) }
    }
}
