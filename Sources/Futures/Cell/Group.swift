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

    func wait<S: Step>(for future: CellObject, step: S) where S.Output == Void {
        guard future.cell.isOf(target.loop) else { Misuse.foreignFuture() }
        let member = CellObject.waiting(future.loop, step: step)
        unsafe members.append(member)
        future.registerObserver(member, when: .all)
        // The user's code that made the future may have ended the group.
        if target.isCompleted { settled() }
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
