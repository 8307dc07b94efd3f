extension Cell {
    /// Registers `child` like `register`, until `token` is cancelled.
    @usableFromInline
    func register(_ child: Cell, when interest: Cell.Interest, until token: TokenCondition) {
        guard pointer.isOf(token.loop) else { Misuse.foreignToken() }
        if token.isMet {
            markObserved()
            child.pointer.place(interest)
            child.pointer.endWaiting(cancellingSource: false)
        } else {
            register(child, when: interest)
            child.tie(to: token, cancellingSource: true)
        }
    }

    /// Registers `child` like `registerObserver`, until `token` is cancelled. It is called then if it wants to hear of
    /// cancellation.
    @usableFromInline
    func registerObserver(_ child: Cell, when interest: Cell.Interest, until token: TokenCondition) {
        guard pointer.isOf(token.loop) else { Misuse.foreignToken() }
        let interest = interest.contains(.cancellation) ? interest.union(.afterCancel) : interest
        if token.isMet {
            if interest.contains(.failure) { markObserved() }
            child.pointer.place(interest)
            child.pointer.endWaiting(cancellingSource: false)
        } else {
            registerObserver(child, when: interest)
            child.tie(to: token, cancellingSource: false)
        }
    }

    func tie(to token: TokenCondition, cancellingSource: Bool) {
        guard !isCompleted, token.canBeMet else { return }
        setProducer(
            TokenTie(
                TokenWatch(token, for: self) { $0.pointer.endWaiting(cancellingSource: cancellingSource) }))
    }
}

extension TokenCondition {
    /// Cancels `target`, of a group of `inputs`, if the token has been cancelled already. Returns whether it has.
    @usableFromInline
    func ends(_ target: Cell, of inputs: [Cell]) -> Bool {
        guard target.pointer.isOf(loop) else { Misuse.foreignToken() }
        guard isMet else { return false }
        for input in inputs { input.markObserved() }
        target.fail(CancellationError())
        return true
    }
}

extension Future {
    /// Returns this future, or, if there is a token, one with its outcome that is cancelled as soon as the token is.
    /// This future is then asked to cancel if nobody else waits for it, unless `cancellingSource` is `false`.
    func until(_ token: CancellationToken, cancellingSource: Bool = true) -> Future {
        guard let condition = token.condition else { return self }
        guard cell.pointer.isOf(condition.loop) else { Misuse.foreignToken() }
        let child = Cell.plain(loop.core, state: .pending, of: Value.self)
        if condition.isMet {
            ignoreFailure()
            if cancellingSource { cancel() }
            child.fail(CancellationError())
        } else {
            cell.register(child, when: [])
            child.tie(to: condition, cancellingSource: cancellingSource)
        }
        return Future(child)
    }
}

extension Future {
    /// Returns this future, or, if there is a token, one with its outcome that passes on no request to cancel that
    /// comes from the token.
    func spared(by token: CancellationToken) -> Future {
        guard let condition = token.condition else { return self }
        let child = branch()
        child.cell.setProducer(TokenShield(condition))
        return child
    }
}

extension CellPointer {
    /// Cancels this cell because a token has been cancelled, unless the callback is already on its way.
    ///
    /// As long as the cell has its step, its source is the cell that it was derived from, and notices nothing.
    /// Afterwards its source is what the callback returned.
    fileprivate func endWaiting(cancellingSource: Bool) {
        if flags.contains(.hasStep) {
            // A completed source that has not yet handed on its outcome will do so.
            guard !flags.contains(.isQueued), source?.isCompleted != true else { return }
            detach()
            if runsAfterCancel { withLoop { $0.dispatch(object) } } else { dropStep() }
        } else {
            if cancellingSource { _ = requestCancellation(ignoringConsumers: true) }
            leaveSource(cancelling: false)
        }
        if state == .pending { settle(as: .cancelled) }
    }
}

/// The producer of a branch of a future. It keeps from that future what a token cancels.
private final class TokenShield: Producer {
    private let condition: TokenCondition

    init(_ condition: TokenCondition) { self.condition = condition }

    override var answersRequests: Bool { false }

    override func cancellationRequested(by cell: CellPointer) -> Answer {
        condition.isMet ? .cancel : .undecided
    }
}

extension CellPointer {
    /// Whether only its source, and the tie to a token, hold this cell.
    var isHeldBySource: Bool { isHeldOnce || (producer as? TokenTie)?.watch.isAlone == true }
}

/// The producer of a future that ends a token's watch over the future as soon as the future has completed.
private final class TokenTie: Producer {
    fileprivate let watch: TokenWatch

    init(_ watch: TokenWatch) { self.watch = watch }

    override var answersRequests: Bool { false }

    override func settled() { watch.end() }
}
