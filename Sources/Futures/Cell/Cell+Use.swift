// The methods of a cell for the other rooms of the module and for code that is inlined into users' code. The
// caller of a method keeps the cell alive during the call. Each method that reads or changes the outcome
// checks the thread.

extension Cell {
    @usableFromInline
    var loop: LoopCore { pointer.loop }

    /// Whether the future has completed in any way.
    @usableFromInline
    var isCompleted: Bool { checkedRoot.isCompleted }

    @usableFromInline
    var hasSucceeded: Bool {
        pointer.checkThread()
        return isSuccess
    }

    /// The same without a check of the thread.
    var isSuccess: Bool { pointer.hasSucceeded || hasRootSucceeded }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    private var hasRootSucceeded: Bool { pointer.root.hasSucceeded }

    @inlinable
    func result<Value>(as _: Value.Type) -> Result<Value, any Error>? {
        isCompleted ? withExtendedLifetime(self) { checkedRoot.readResult(as: Value.self) } : nil
    }

    /// Declares that a failure of this cell need not be reported.
    @usableFromInline
    func markObserved() { checkedRoot.flags.insert(.isObserved) }

    /// Makes `child`, a new cell, a consumer of this cell. When this cell completes, `child` runs its step or
    /// completes.
    @usableFromInline
    func register(_ child: Cell, when interest: Cell.Interest) {
        child.pointer.retainNew()
        checkedRoot.register(child.pointer, when: interest)
    }

    /// Makes `child`, a new cell, an observer of this cell: a consumer whose own outcome nothing needs.
    @usableFromInline
    func registerObserver(_ child: Cell, when interest: Cell.Interest) {
        child.pointer.retainNew()
        checkedRoot.registerObserver(child.pointer, when: interest)
    }

    /// Makes `child` an observer whose step is the library's own: see `CellPointer.registerOwn`.
    func registerOwn(_ child: Cell) {
        child.pointer.retainNew()
        checkedRoot.registerOwn(child.pointer)
    }

    @usableFromInline
    func requestCancellation(_ options: CancelOptions = [], ignoringConsumers: Bool = false) -> Bool {
        let root = checkedRoot
        if root == pointer {
            return withExtendedLifetime(self) {
                root.requestCancellation(options, ignoringConsumers: ignoringConsumers)
            }
        }
        // Only the link holds the root, and a handler may give the link another root.
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

    /// Stops waiting for the source. If `cancelling` is `true`, also asks the source to cancel unless
    /// something else waits for the source.
    func leaveSource(cancelling: Bool) { pointer.leaveSource(cancelling: cancelling) }

    /// Whether the cell waits in a queue to run its step.
    var isQueued: Bool { pointer.flags.contains(.isQueued) }

    func setProducer(_ producer: Producer) { pointer.producer = producer }

    @usableFromInline
    var checkedRoot: CellPointer {
        pointer.checkThread()
        return pointer.root
    }
}
