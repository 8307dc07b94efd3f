// Runs the callbacks of the context `LocalContext.immediate`.
extension Propagation {
    /// Queues a consumer to run at the end of the change. Returns `false` if too many callbacks are nested on
    /// the stack.
    func addImmediate(_ cell: CellPointer, source: CellPointer) -> Bool {
        guard callbackDepth < LocalContext.depthLimit else { return false }
        immediate.append(cell, source: source)
        hasWorkLeft = true
        return true
    }

    /// Runs the callbacks that are queued to run at once, in the order in which they were queued. A callback
    /// may queue further callbacks. They run within that callback, unless they are callbacks of the same
    /// future.
    func runImmediate() {
        guard holds == 0, callbackDepth < LocalContext.depthLimit, !immediate.isEmpty else { return }
        callbackDepth += 1
        if loop.turnState.isRunning { emptyImmediate() } else { EventLoop.withCurrent(loop, emptyImmediate) }
        callbackDepth -= 1
    }

    private func emptyImmediate() {
        // The callbacks leave `immediate` first. Otherwise a nested call of `runImmediate` would run the rest
        // of them.
        var batch = ReadyQueue()
        batch.append(contentsOf: &immediate)
        while let cell = batch.takeFirst() {
            if isCalling(cell.source!) { postpone(cell) } else { run(cell, on: .immediate) }
            if batch.isEmpty { takePostponed(to: &batch) }
        }
    }

    /// Runs a callback on `context`. The callback comes from a queue other than the ready queue. Takes over
    /// the reference to `cell`.
    func run(_ cell: CellPointer, on context: LocalContext) {
        let (loop, source) = (loop, cell.source!)
        source.retain()
        source.interest.insert(.isCalling)
        let outer = loop.contexts.running
        loop.contexts.running = context
        loop.run(cell)
        loop.contexts.running = outer
        source.interest.remove(.isCalling)
        source.release()
    }

    /// Whether a callback of `source` is running.
    private func isCalling(_ source: CellPointer) -> Bool {
        // Many callers share the completed future of the loop, so their callbacks may overlap.
        if let completedVoid = loop.completedVoid, source == completedVoid.pointer { return false }
        return source.interest.contains(.isCalling) || source == loop.ready.calling
    }

    /// Postpones a callback until the running callback of the same future has ended. Takes over the reference
    /// to `cell`.
    private func postpone(_ cell: CellPointer) {
        if cell.source == loop.ready.calling, !isCatchingUp {
            isCatchingUp = true
            let catchUp = SubmitStep<Void> { [unowned self] in
                isCatchingUp = false
                runPostponed()
            }
            let object = Cell.waiting(loop, step: catchUp)
            object.pointer.retain()
            loop.ready.prepend(object.pointer)
        }
        postponed.append(cell)
    }

    /// Moves the postponed callbacks that no longer have to wait to `batch`.
    private func takePostponed(to batch: inout ReadyQueue) {
        var left = ReadyQueue()
        while let cell = postponed.takeFirst() {
            if isCalling(cell.source!) { left.append(cell) } else { batch.append(cell) }
        }
        postponed = left
    }

    /// Runs the postponed callbacks. Called when a callback that they may wait for has ended.
    func runPostponed() {
        immediate.append(contentsOf: &postponed)
        runImmediate()
    }
}
