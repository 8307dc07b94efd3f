/// The producer of a future that waits for several others, each by its own member: an observer.
@usableFromInline
final class Group: Producer {
    // Nothing that changes it runs anybody's code, and each change would be checked at run time.
    @exclusivity(unchecked) private var members: [Cell] = []
    let target: Cell
    private var cancelRemaining: CancelRemaining
    /// The member that waits for what a user's closure has returned. Belongs to the group itself, not to one of its
    /// inputs.
    private var work: Cell?
    private var watch: TokenWatch?

    init(target: Cell, cancelRemaining: CancelRemaining) {
        self.target = target
        self.cancelRemaining = cancelRemaining
        super.init()
        target.setProducer(self)
    }

    /// Runs `step` when `future` completes. For an outcome in `queued`, the ready queue runs `step`, since `step` then
    /// calls a user's closure. For any other outcome, `step` runs at once. `isWork` says that `future` is no input of
    /// the group: a user's closure has returned it. A group waits for one such future at a time.
    func wait<S: Step>(
        for future: Cell, queued: Cell.Interest = [], isWork: Bool = false, step: S
    ) where S.Output == Void {
        guard future.pointer.isOf(target.loop) else { Misuse.foreignFuture() }
        guard isWork || !target.isCompleted else { return letGo(future) }
        let member = Cell.waiting(future.loop, step: step)
        if isWork { work = member } else { unsafe members.append(member) }
        future.registerObserver(member, when: queued.union(.atOnce))
        // The closure that has returned the work may have ended the group.
        if isWork, target.isCompleted { settled() }
    }

    /// Ends the group when `token` is cancelled, now or later. Leaves the futures of the group alone in that case.
    @usableFromInline
    func end(by token: TokenCondition) {
        guard token.canBeMet else { return }
        watch = TokenWatch(token, for: target) { ($0.pointer.producer as? Group)?.leave() }
    }

    private func leave() {
        cancelRemaining = .never
        target.fail(CancellationError())
    }

    /// Asks `future` to cancel if the group does so at its end. Called for a future that comes after that end.
    private func letGo(_ future: Cell) {
        future.markObserved()
        if cancelRemaining != .never { _ = future.requestCancellation() }
    }

    /// Ends the group with the outcome of an input that has no value.
    func fail(_ error: any Error) {
        if error.isCancellation, cancelRemaining == .onFailure { cancelRemaining = .never }
        target.fail(error)
    }

    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }

    override var subject: String? { "a group" }

    /// Stops waiting for what is still pending: the outcome is there, or nobody wants it.
    override func settled() {
        watch.take()?.end()
        work.take()?.stopObserving(cancelling: true)
        let members = unsafe members
        unsafe self.members = []
        // All, before the first future is asked to cancel: that may complete others.
        for member in members { member.pointer.dropStep() }
        for member in members { member.stopObserving(cancelling: cancelRemaining != .never) }
    }
}

extension Cell {
    /// Ends an observer, no matter whether it waits for its source or to be run.
    func stopObserving(cancelling: Bool) {
        pointer.dropStep()
        pointer.leaveSource(cancelling: cancelling)
        loop.propagation.finishChange()
    }
}
