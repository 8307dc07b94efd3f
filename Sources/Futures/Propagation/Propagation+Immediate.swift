// The callbacks of `LocalContext.immediate`.
extension Propagation {
    /// Queues a consumer to run at the end of the change. Returns `false` if too many are nested already.
    func addImmediate(_ cell: CellPointer, source: CellPointer) -> Bool {
        guard callbackDepth < LocalContext.depthLimit else { return false }
        immediate.append(cell, source: source)
        hasWorkLeft = true
        return true
    }

    /// Runs the callbacks that are to run at once, in the order in which they came. Callbacks that come meanwhile run
    /// within the callback that brings them, unless they are of the same future.
    func runImmediate() {
        guard holds == 0, callbackDepth < LocalContext.depthLimit, !immediate.isEmpty else { return }
        callbackDepth += 1
        if loop.turnState.isRunning { emptyImmediate() } else { EventLoop.withCurrent(loop, emptyImmediate) }
        callbackDepth -= 1
    }

    private func emptyImmediate() {
        // What callbacks bring about is not put at the end of these: it would run within the first of them.
        var batch = ReadyQueue()
        batch.append(contentsOf: &immediate)
        while let cell = batch.takeFirst() {
            if isCalling(cell.source!) { postpone(cell) } else { run(cell, on: .immediate) }
            if batch.isEmpty { takePostponed(to: &batch) }
        }
    }

    /// Runs a callback that has been taken from a queue other than the ready queue.
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
        // The one future of all who want a completed one is nobody's own.
        if let completedVoid = loop.completedVoid, source == completedVoid.pointer { return false }
        return source.interest.contains(.isCalling) || source == loop.ready.calling
    }

    /// Lets a callback run after the running callback of the same future. Takes over the reference to it.
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

    /// Moves callbacks that need not wait any more to `batch`.
    private func takePostponed(to batch: inout ReadyQueue) {
        var left = ReadyQueue()
        while let cell = postponed.takeFirst() {
            if isCalling(cell.source!) { left.append(cell) } else { batch.append(cell) }
        }
        postponed = left
    }

    /// Runs the postponed callbacks. A callback that they may have waited for has ended.
    func runPostponed() {
        immediate.append(contentsOf: &postponed)
        runImmediate()
    }
}
