// What the rest of the module, and what is inlined into users' code, asks of a cell. A method's caller keeps the
// object alive meanwhile. All of these check the thread.

extension CellObject {
    @usableFromInline
    var loop: LoopCore { cell.loop }

    /// Whether the future has completed, in whichever way.
    @usableFromInline
    var isCompleted: Bool { checkedRoot.isCompleted }

    @usableFromInline
    var hasSucceeded: Bool {
        cell.checkThread()
        return cell.hasSucceeded || hasRootSucceeded
    }

    // Apart, which makes the way past it shorter.
    @inline(never)
    private var hasRootSucceeded: Bool { cell.root.hasSucceeded }

    @inlinable
    func result<Value>(as _: Value.Type) -> Result<Value, any Error>? {
        isCompleted ? withExtendedLifetime(self) { checkedRoot.readResult(as: Value.self) } : nil
    }

    /// Marks a failure as heard of.
    @usableFromInline
    func markObserved() { checkedRoot.flags.insert(.isObserved) }

    /// Makes `child`, which is new, a consumer: it runs its step, or completes, when this cell does.
    @usableFromInline
    func register(_ child: CellObject, when interest: Cell.Interest) {
        child.cell.retainNew()
        checkedRoot.register(child.cell, when: interest)
    }

    @usableFromInline
    func registerObserver(_ child: CellObject, when interest: Cell.Interest) {
        child.cell.retainNew()
        checkedRoot.registerObserver(child.cell, when: interest)
    }

    @usableFromInline
    func requestCancellation(_ options: CancelOptions = [], ignoringConsumers: Bool = false) -> Bool {
        let root = checkedRoot
        if root == cell {
            return withExtendedLifetime(self) {
                root.requestCancellation(options, ignoringConsumers: ignoringConsumers)
            }
        }
        // A handler may lead the link elsewhere that holds the root.
        root.retain()
        defer { root.release() }
        return root.requestCancellation(options, ignoringConsumers: ignoringConsumers)
    }

    @inlinable @discardableResult
    func succeed<Value>(_ value: Value) -> Bool {
        withExtendedLifetime(self) { cell.succeed(value) }
    }

    @usableFromInline @discardableResult
    func fail(_ error: any Error) -> Bool { withExtendedLifetime(self) { cell.fail(error) } }

    @inlinable @discardableResult
    func complete<Value>(_ result: Result<Value, any Error>) -> Bool {
        withExtendedLifetime(self) { cell.complete(result) }
    }

    /// Stops waiting for the source, which is asked to cancel if nobody else waits for it.
    func leaveSource(cancelling: Bool) { cell.leaveSource(cancelling: cancelling) }

    /// Whether the step waits in the ready queue.
    var isQueued: Bool { cell.flags.contains(.isQueued) }

    func setProducer(_ producer: Producer) { cell.producer = producer }

    @usableFromInline
    var checkedRoot: Cell {
        cell.checkThread()
        return cell.root
    }
}
