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
        root.settle(with: value)
        return true
    }

    /// Completes this pending cell, which has no step any more, with `value`.
    @inlinable @inline(__always)
    func settle<Value>(with value: Value) {
        assert(hasRoomForValue, "a cell is given a value while it has its step")
        initializePayload(value)
        settle(as: .success)
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

    /// The root of this cell, which a producer completes, or `nil` if the root is no longer pending. Checks
    /// the thread.
    @usableFromInline
    var openRoot: CellPointer? {
        checkThread()
        let root = root
        return root.state == .pending ? root : nil
    }

    /// Completes this pending cell with the outcome of `other`, a cell of the same type.
    func copyOutcome(of other: CellPointer) {
        dropStep()
        switch other.state {
        case .success: behavior(.copyValue, self, other)
        case .failure: storeError(other.readError())
        default: break
        }
        settle(as: other.state)
    }

    /// Moves the step to the graveyard. The release of a step can run code of users, so it waits until no
    /// cell is between two states.
    func dropStep() {
        if flags.contains(.hasStep) {
            flags.remove(.hasStep)
            withLoop { $0.propagation.bury(self, .dropStep) }
        }
    }

    /// Sets the state, and hands the outcome in the payload to the consumers. Queues a consumer whose step
    /// runs on this outcome. Completes any other consumer at once. This work is done from one list of the
    /// loop, so even a long chain does not overflow the stack.
    @usableFromInline
    func settle(as outcome: State) {
        state = outcome
        // A cell that is linked to this one may live on, but no longer needs its producer.
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

    /// Takes over the producer of `link`, which is linked to this cell. That producer then hears of the end
    /// of this cell.
    private func takeOverProducer(of link: CellPointer) {
        guard let producer = link.producer else { return }
        link.producer = nil
        if hasProducer { endProducer() }
        self.producer = producer
    }

    /// Removes the producer, and tells it that the cell has completed.
    @inline(never)
    func endProducer() {
        let producer = takeProducer()
        withLoop { $0.propagation.asOneChange { producer?.settled() } }
    }

    /// Takes all consumers out of the list, in order. Queues the consumers whose steps run on the outcome,
    /// and completes the others.
    func distributeConsumers() {
        while let consumer = first {
            first = consumer.next
            first?.previous = nil
            deliver(to: consumer)
        }
        last = nil
    }

    /// Hands the outcome to `consumer`. Takes over the list's reference to `consumer`.
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

    /// Runs the step of a group, within the change.
    // Not inlined, so that the code of the frequent case stays short.
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
