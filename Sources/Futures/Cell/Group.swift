/// The producer of a future that waits for several others, each by a member of its own: an observer.
@usableFromInline
final class Group: Producer {
    // Nothing that changes it runs anybody's code, and each change would be checked at run time.
    @exclusivity(unchecked) private var members: [CellObject] = []
    let target: CellObject
    private var cancelRemaining: CancelRemaining

    init(target: CellObject, cancelRemaining: CancelRemaining) {
        self.target = target
        self.cancelRemaining = cancelRemaining
        super.init()
        target.setProducer(self)
    }

    /// Has `step` run when `future` completes: at once, or, if the outcome is one of `queued`, from the ready queue,
    /// since it calls a user's closure.
    func wait<S: Step>(
        for future: CellObject, queued: Cell.Interest = [], step: S
    ) where S.Output == Void {
        guard future.cell.isOf(target.loop) else { Misuse.foreignFuture() }
        guard !target.isCompleted else { return letGo(future) }
        let member = CellObject.waiting(future.loop, step: step)
        unsafe members.append(member)
        future.registerObserver(member, when: queued.union(.atOnce))
    }

    /// The group has its outcome already.
    private func letGo(_ future: CellObject) {
        future.markObserved()
        if cancelRemaining != .never { _ = future.requestCancellation() }
    }

    /// Ends the group with the outcome of an input that has no value.
    func fail(_ error: any Error) {
        if error.isCancellation, cancelRemaining == .onFailure { cancelRemaining = .never }
        target.fail(error)
    }

    override func cancellationRequested(by cell: Cell) -> Answer { .cancel }

    /// The outcome is there, or nobody wants it: stops waiting for what is still pending.
    override func settled() {
        let members = unsafe members
        unsafe self.members = []
        // All, before the first future is asked to cancel: that may complete others.
        for member in members { member.cell.dropStep() }
        for member in members { member.stopObserving(cancelling: cancelRemaining != .never) }
    }
}

extension CellObject {
    /// Ends an observer, whether it waits for its source or to be run.
    func stopObserving(cancelling: Bool) {
        cell.dropStep()
        cell.leaveSource(cancelling: cancelling)
        loop.releaseTheDead()
    }
}
