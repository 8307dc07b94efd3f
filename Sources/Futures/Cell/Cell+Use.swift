// What the rest of the module, and what is inlined into users' code, asks of a cell. A method's caller keeps the
// object alive meanwhile. Whatever reads or changes the outcome checks the thread.

extension Cell {
    @usableFromInline
    var loop: LoopCore { pointer.loop }

    /// Whether the future has completed in any way.
    @usableFromInline
    var isCompleted: Bool { checkedRoot.isCompleted }

    @usableFromInline
    var hasSucceeded: Bool {
        pointer.checkThread()
        return pointer.hasSucceeded || hasRootSucceeded
    }

    // Apart, which makes the way past it shorter.
    @inline(never)
    private var hasRootSucceeded: Bool { pointer.root.hasSucceeded }

    @inlinable
    func result<Value>(as _: Value.Type) -> Result<Value, any Error>? {
        isCompleted ? withExtendedLifetime(self) { checkedRoot.readResult(as: Value.self) } : nil
    }

    /// Marks a failure as heard of.
    @usableFromInline
    func markObserved() { checkedRoot.flags.insert(.isObserved) }

    /// Makes `child`, a new cell, a consumer: it runs its step, or completes, when this cell does.
    @usableFromInline
    func register(_ child: Cell, when interest: Cell.Interest) {
        child.pointer.retainNew()
        checkedRoot.register(child.pointer, when: interest)
    }

    @usableFromInline
    func registerObserver(_ child: Cell, when interest: Cell.Interest) {
        child.pointer.retainNew()
        checkedRoot.registerObserver(child.pointer, when: interest)
    }

    @usableFromInline
    func requestCancellation(_ options: CancelOptions = [], ignoringConsumers: Bool = false) -> Bool {
        let root = checkedRoot
        if root == pointer {
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
        withExtendedLifetime(self) { pointer.succeed(value) }
    }

    @usableFromInline @discardableResult
    func fail(_ error: any Error) -> Bool { withExtendedLifetime(self) { pointer.fail(error) } }

    @inlinable @discardableResult
    func complete<Value>(_ result: Result<Value, any Error>) -> Bool {
        withExtendedLifetime(self) { pointer.complete(result) }
    }

    /// Stops waiting for the source, and, if `cancelling`, asks it to cancel if nobody else waits for it.
    func leaveSource(cancelling: Bool) { pointer.leaveSource(cancelling: cancelling) }

    /// Whether the step waits in the ready queue.
    var isQueued: Bool { pointer.flags.contains(.isQueued) }

    func setProducer(_ producer: Producer) { pointer.producer = producer }

    @usableFromInline
    var checkedRoot: CellPointer {
        pointer.checkThread()
        return pointer.root
    }
}
