/// A bag of objects, closures and futures that you end together. The bag ends them in the order in which they
/// were added.
///
/// Releasing a bag has the same effect as ``dispose()``. You can use a bag again after a call of
/// ``dispose()``. If you add something while that call runs, it stays in the bag until the next call.
public final class DisposeBag: Disposable {
    private struct Content {
        let dispose: () -> Void
        /// The bag to dispose of, instead of the closure.
        var bag: DisposeBag?
        /// Whether there is nothing to dispose of any more.
        var isOver: () -> Bool = { false }
    }

    private var contents: [Content] = []
    /// The number of contents at which the bag removes completed futures.
    private var cleanUpAt = 32

    public init() {}

    deinit { dispose() }

    /// Whether the bag is empty. The bag removes completed futures only from time to time, so the value may
    /// be `false` even if all futures in the bag have completed.
    public var isEmpty: Bool { contents.isEmpty }

    /// Disposes of everything in the bag, and empties the bag. Calls `dispose()` of each object, runs each
    /// closure, and asks each future to cancel.
    public func dispose() {
        // Bags inside bags are emptied in a loop, so that no number of them overflows the stack.
        var left = takeAll()
        while let content = left.popLast() {
            if let bag = content.bag { left += bag.takeAll() } else { content.dispose() }
        }
    }

    /// Empties the bag. Returns its contents, the first one last.
    private func takeAll() -> [Content] { exchange(&contents, with: []).reversed() }

    /// Adds an object. When the bag is disposed of, the bag calls `dispose()` of this object.
    public func add(_ disposable: any Disposable) {
        append(Content(dispose: { disposable.dispose() }, bag: disposable as? DisposeBag))
    }

    /// Adds a closure that runs once, when the bag is disposed of.
    public func add(_ action: @escaping () -> Void) { add(Disposer(action)) }

    /// Adds a future. When the bag is disposed of, the bag asks the future to cancel, as ``Future/cancel()``
    /// does. The bag does not keep the future alive.
    ///
    /// If other code waits for the future, for example the closure of a `whenSuccess`, the future is not
    /// cancelled. Therefore add the last future of a chain.
    ///
    /// ```swift
    /// bag.add(fetch("avatar").map(hash).tap { print($0) })
    /// ```
    public func add<Value>(_ future: Future<Value>) {
        guard !future.isCompleted else { return }
        let cancel = { [weak cell = future.cell] in _ = cell?.requestCancellation() }
        let isOver = { [weak cell = future.cell] in cell?.isCompleted ?? true }
        append(Content(dispose: cancel, isOver: isOver))
    }

    /// Keeps `object` alive until the bag is disposed of.
    public func hold(_ object: AnyObject) { append(Content { withExtendedLifetime(object) {} }) }

    /// Returns a new bag inside this bag. When this bag is disposed of, the new bag is disposed of too. You
    /// can also dispose of the new bag alone.
    ///
    /// ```swift
    /// let request = bag.innerBag()
    /// request.add(fetch("index").flatMap { connection.write($0) })
    /// request.dispose()    // Leaves the rest of the bag alone.
    /// ```
    public func innerBag() -> DisposeBag {
        let bag = DisposeBag()
        add(bag)
        return bag
    }

    private func append(_ content: Content) {
        contents.append(content)
        guard contents.count >= cleanUpAt else { return }
        withExtendedLifetime(exchange(&contents, with: contents.filter { !$0.isOver() })) {}
        cleanUpAt = max(32, 2 * contents.count)
    }
}

@available(
    *, unavailable, message: "A dispose bag belongs to its loop's thread; go there with loop.execute { … }."
)
extension DisposeBag: Sendable {}
