extension Cell {
    /// Makes `child` a consumer or an observer of this cell. When `token` is cancelled, `child` stops waiting. A consumer is
    /// then cancelled. The step of an observer then runs only if `interest` contains `cancellation`.
    @usableFromInline
    func register(
        _ child: Cell, when interest: Cell.Interest, until token: TokenCondition, asObserver: Bool
    ) {
        let runsAfterCancel = asObserver && interest.contains(.cancellation)
        let interest = runsAfterCancel ? interest.union(.afterCancel) : interest
        guard pointer.isOf(token.loop) else { Misuse.foreignToken() }
        if token.isMet {
            if !asObserver || interest.contains(.failure) { markObserved() }
            child.pointer.place(interest)
            child.pointer.endWaiting(cancellingSource: false)
        } else {
            if asObserver { registerObserver(child, when: interest) } else { register(child, when: interest) }
            child.tie(to: token, cancellingSource: !asObserver)
        }
    }

    /// Ends the wait of this cell when `token` is cancelled. If this cell has no step any more and
    /// `cancellingSource` is `true`, the source is then asked to cancel.
    func tie(to token: TokenCondition, cancellingSource: Bool) {
        guard !isCompleted, token.canBeMet else { return }
        let watch = TokenWatch(token, for: self) { $0.pointer.endWaiting(cancellingSource: cancellingSource) }
        setProducer(TokenTie(watch))
    }
}

extension TokenCondition {
    /// Cancels `target`, the future of a group of `inputs`, if the token has been cancelled already. Returns
    /// `true` if the token has been cancelled.
    @usableFromInline
    func ends(_ target: Cell, of inputs: Span<Cell>) -> Bool {
        guard target.pointer.isOf(loop) else { Misuse.foreignToken() }
        guard isMet else { return false }
        for index in inputs.indices { inputs[index].markObserved() }
        target.fail(CancellationError())
        return true
    }
}

extension Future {
    /// Does the same as `until`, but the test for a token is inlined into users' code.
    @inlinable
    func ending(with token: CancellationToken) -> Future { token.condition == nil ? self : until(token) }

    /// Returns a future with this outcome that is cancelled as soon as `token` is cancelled. Without a token,
    /// returns this future itself.
    ///
    /// When `token` is cancelled, this future is asked to cancel, unless other code waits for it. With
    /// `cancellingSource: false`, this future is not asked to cancel.
    @usableFromInline
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

    /// Returns a future with this outcome. It passes requests to cancel on to this future, except requests
    /// that come from `token`. Without a token, returns this future itself.
    func spared(by token: CancellationToken) -> Future {
        guard let condition = token.condition else { return self }
        let child = branch()
        child.cell.setProducer(Shield(from: condition))
        return child
    }
}

extension CellPointer {
    /// Cancels this cell because a token has been cancelled. Does nothing if the callback is already on its
    /// way.
    ///
    /// As long as the cell has its step, its source is the cell that it was derived from. That source is not
    /// asked to cancel. After the step has run, the source is the future that the callback returned.
    fileprivate func endWaiting(cancellingSource: Bool) {
        if flags.contains(.hasStep) {
            // A completed source will still hand on its outcome.
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

/// The producer of a branch of a future. It does not pass requests to cancel on to that future: no requests
/// at all, or none that come from a token.
final class Shield: Producer {
    private let condition: TokenCondition?
    /// Called when a task that waits for the cell has been cancelled, and goes on waiting.
    private let onCancelledWait: (() -> Void)?

    init(from condition: TokenCondition? = nil, onCancelledWait: (() -> Void)? = nil) {
        self.condition = condition
        self.onCancelledWait = onCancelledWait
    }

    func hearsOfCancelledWait() { onCancelledWait?() }

    override var answersRequests: Bool { condition == nil }

    override func cancellationRequested(by cell: CellPointer) -> Answer {
        condition?.isMet == false ? .undecided : .cancel
    }
}

extension CellPointer {
    /// The producer of this cell, if a task waits for it to the end, even if the task is cancelled.
    var shield: Shield? { (producer as? Shield).flatMap { $0.answersRequests ? $0 : nil } }

    /// Whether nothing holds this cell but its source and the tie to a token.
    var isHeldBySource: Bool { isHeldOnce || (producer as? TokenTie)?.watch.isAlone == true }
}

/// The producer of a future that is tied to a token. It ends the watch of the token when the future
/// completes.
private final class TokenTie: Producer {
    fileprivate let watch: TokenWatch

    init(_ watch: TokenWatch) { self.watch = watch }

    override var answersRequests: Bool { false }

    override func settled() { watch.end() }
}
