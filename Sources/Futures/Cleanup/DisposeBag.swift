/// A bag of things that are disposed of together, in the order in which they were added, at the latest when the bag is
/// released.
///
/// A bag can be filled again after it was disposed of. Things that are added while it is being disposed of stay for the
/// next time.
public final class DisposeBag: Disposable {
    private enum Content {
        case disposable(any Disposable)
        case object(AnyObject)
        case future(WeakFuture)
    }

    private var contents: [Content] = []
    private var cleanUpAt = 32

    public init() {}

    deinit { dispose() }

    /// Whether the bag is empty. Futures that have completed may count until the bag looks at them.
    public var isEmpty: Bool { contents.isEmpty }

    /// Disposes of everything in the bag, which empties it.
    public func dispose() {
        let contents = contents
        self.contents = []
        for content in contents {
            switch content {
            case .disposable(let disposable): disposable.dispose()
            case .object: break
            case .future(let future): future.cancel()
            }
        }
    }

    /// Adds an object to dispose of.
    public func add(_ disposable: any Disposable) { append(.disposable(disposable)) }

    /// Adds a closure to run.
    public func add(_ action: @escaping () -> Void) { add(Disposer(action)) }

    /// Adds a future to be asked to cancel, as ``Future/cancel()`` does. The bag does not keep it alive.
    ///
    /// A future that somebody else waits for, by `whenSuccess` for example, is left alone, so add the last of a chain.
    ///
    /// ```swift
    /// bag.add(fetch("avatar").map(hash).tap { print($0) })
    /// ```
    public func add<Value>(_ future: Future<Value>) {
        if !future.isCompleted { append(.future(WeakFuture(cell: future.cell))) }
    }

    /// Keeps `object` alive until the bag is disposed of.
    public func hold(_ object: AnyObject) { append(.object(object)) }

    /// Returns a bag in this bag, to be disposed of by itself or together with this one.
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
        contents.removeAll { content in
            if case .future(let future) = content { future.isOver } else { false }
        }
        cleanUpAt = max(32, 2 * contents.count)
    }
}

@available(
    *, unavailable, message: "A dispose bag belongs to its loop's thread; go there with loop.execute { … }."
)
extension DisposeBag: Sendable {}

private struct WeakFuture {
    weak var cell: Cell?

    var isOver: Bool { cell?.isCompleted ?? true }

    func cancel() { _ = cell?.requestCancellation() }
}
