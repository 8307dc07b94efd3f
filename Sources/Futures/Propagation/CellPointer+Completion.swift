extension CellPointer {
    /// Whether a producer may still complete this cell. Checks the thread.
    @usableFromInline
    var isOpen: Bool {
        checkThread()
        return root.state == .pending
    }

    @inlinable @discardableResult
    func succeed<Value>(_ value: Value) -> Bool {
        guard let root = openRoot else { return false }
        assert(root.hasRoomForValue, "a cell is given a value while it has its step")
        root.initializePayload(value)
        root.settle(as: .success)
        return true
    }

    @usableFromInline @discardableResult
    func fail(_ error: any Error) -> Bool {
        guard let root = openRoot else { return false }
        root.dropStep()
        if error.isCancellation {
            root.settle(as: .cancelled)
        } else {
            root.storeError(error)
            root.settle(as: .failure)
        }
        return true
    }

    @inlinable @discardableResult
    func complete<Value>(_ result: Result<Value, any Error>) -> Bool {
        switch result {
        case .success(let value): succeed(value)
        case .failure(let error): fail(error)
        }
    }

    /// The cell that a producer has to complete, if it still may. Checks the thread.
    @usableFromInline
    var openRoot: CellPointer? {
        checkThread()
        let root = root
        return root.state == .pending ? root : nil
    }

    /// Completes a pending cell with the outcome of another cell of its type.
    func copyOutcome(of other: CellPointer) {
        dropStep()
        switch other.state {
        case .success: behavior(.copyValue, self, other)
        case .failure: storeError(other.readError())
        default: break
        }
        settle(as: other.state)
    }

    /// Puts the step aside, to be released when no cell is between two states: releasing it runs user code.
    func dropStep() {
        if flags.contains(.hasStep) {
            flags.remove(.hasStep)
            withLoop { $0.propagation.bury(self, .dropStep) }
        }
    }

    /// Records the outcome, which is in the payload, and hands it on. Queues steps that want it, and passes it
    /// through the other consumers at once. The loop has one list of such work, so that no chain is too long.
    @usableFromInline
    func settle(as outcome: State) {
        state = outcome
        // What is linked to this cell may live on, but has nobody to ask any more.
        if let source, source.state == .linked { takeOverProducer(of: source) }
        if !flags.contains(.isQueued) { source = nil }
        if !flags.isDisjoint(with: [.isListed, .isTimed]) { leavePending() }
        if let only = first, only == last, only.interest.isQueued(by: interestOfOutcome) {
            first = nil
            last = nil
            withLoop { $0.enqueue(only, source: self) }
        } else if first != nil {
            withLoop { $0.propagation.distribute(self) }
        }
        if hasProducer { endProducer() }
        withLoop { $0.propagation.finishChange() }
    }

    /// Takes over the producer of what is linked to this cell. It ends as this cell's own does.
    private func takeOverProducer(of link: CellPointer) {
        guard let producer = link.producer else { return }
        link.producer = nil
        if hasProducer { endProducer() }
        self.producer = producer
    }

    @inline(never)
    func endProducer() {
        let producer = takeProducer()
        withLoop { $0.propagation.asOneChange { producer?.settled() } }
    }

    /// Empties the list of consumers, in order. Moves them into the ready queue, or completes those that the outcome
    /// passes through.
    func distributeConsumers() {
        while let consumer = first {
            first = consumer.next
            first?.previous = nil
            deliver(to: consumer)
        }
        last = nil
    }

    /// Hands the outcome to a consumer, and passes on the list's reference to it.
    func deliver(to consumer: CellPointer) {
        consumer.previous = nil
        consumer.next = nil
        if !consumer.interest.isDisjoint(with: interestOfOutcome) {
            withLoop { $0.dispatch(consumer, source: self) }
        } else if consumer.interest.contains(.atOnce) {
            consumer.runAtOnce(on: self)
        } else {
            consumer.source = nil
            consumer.dropStep()
            let target = consumer.root
            if target.state == .pending { target.copyOutcome(of: self) }
            consumer.release()
        }
    }

    // Apart, which makes the way past it shorter.
    @inline(never)
    private func runAtOnce(on completed: CellPointer) {
        source = nil
        if flags.contains(.hasStep) {
            flags.remove(.hasStep)
            behavior(.run, self, completed)
        }
        release()
    }

    private var interestOfOutcome: Interest {
        Interest(rawValue: 1 &<< UInt16(state.rawValue &- State.success.rawValue))
    }
}
