/// The producer of a future that waits for several others. Each of the others has an observer, called a
/// member.
@usableFromInline
final class Group: Producer {
    // Unchecked, since each change would be checked at run time. No change of the list runs code of others.
    @exclusivity(unchecked) private var members: [Cell] = []
    let target: Cell
    private var cancelRemaining: CancelRemaining
    /// The member that waits for a future that a user's closure has returned. That future is no input of the
    /// group.
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

    /// Ends the group with the error or the cancellation of an input.
    func fail(_ error: any Error) {
        if error.isCancellation, cancelRemaining == .onFailure { cancelRemaining = .never }
        target.fail(error)
    }

    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }

    override var subject: String? { "a group" }

    /// Stops waiting for the futures that are pending: the group has its outcome or was cancelled.
    override func settled() {
        watch.take()?.end()
        work.take()?.stopObserving(cancelling: true)
        let members = unsafe members
        unsafe self.members = []
        // All steps are dropped before the first future is asked to cancel, since its cancellation may
        // complete other futures.
        for member in members { member.pointer.dropStep() }
        for member in members { member.stopObserving(cancelling: cancelRemaining != .never) }
    }
}

extension Cell {
    /// Ends an observer that waits for its source, or that waits in the ready queue.
    func stopObserving(cancelling: Bool) {
        pointer.dropStep()
        pointer.leaveSource(cancelling: cancelling)
        loop.propagation.finishChange()
    }
}
