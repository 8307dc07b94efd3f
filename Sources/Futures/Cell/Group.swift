/// The producer of a future that waits for several others, each by a member of its own: an observer.
@usableFromInline
final class Group: Producer {
    private var members: [CellObject] = []
    private let target: CellObject
    private let cancelsRemaining: Bool

    @usableFromInline
    init(target: CellObject, cancelsRemaining: Bool) {
        self.target = target
        self.cancelsRemaining = cancelsRemaining
        super.init()
        target.setProducer(self)
    }

    @usableFromInline
    func wait<S: Step>(for future: CellObject, step: S) where S.Output == Void {
        guard future.cell.isOf(target.loop) else { Misuse.foreignFuture() }
        let member = CellObject.waiting(future.loop, step: step)
        members.append(member)
        future.registerObserver(member, when: .all)
    }

    override func cancellationRequested(by cell: Cell) -> Answer { .cancel }

    /// The outcome is there, or nobody wants it: stops waiting for what is still pending.
    override func settled() {
        let members = members
        self.members = []
        for member in members { member.stopObserving(cancelling: cancelsRemaining) }
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
