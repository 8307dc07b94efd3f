/// The producer of a future that waits for several others. Each of the others has an observer, called a
/// member.
@usableFromInline
final class Group: Producer {
    /// The list owns a reference to each member. Unchecked, since each change would be checked at run time. No
    /// change of the list runs code of others.
    @exclusivity(unchecked) private var members: [CellPointer] = []
    let target: Cell
    private var cancelRemaining: CancelRemaining
    /// The member that waits for a future that a user's closure has returned. That future is no input of the
    /// group.
    private var work: Cell?
    private var watch: TokenWatch?
    /// Receives the outcomes of the inputs.
    private var receiver: AnyObject?

    init(target: Cell, cancelRemaining: CancelRemaining) {
        self.target = target
        self.cancelRemaining = cancelRemaining
        super.init()
        target.setProducer(self)
    }

    /// Waits for all `futures`. Gives each future that completes to `receiver`. `behavior` is the behavior of
    /// members for the type of `receiver`. For an outcome in `queued`, the ready queue runs the members.
    @usableFromInline
    func wait(
        for futures: Span<Cell>, queued: Cell.Interest, receiver: AnyObject, behavior: Cell.Behavior
    ) {
        if !isOver { self.receiver = receiver }
        unsafe members.reserveCapacity(futures.count)
        let interest = queued.union(.atOnce)
        target.pointer.withLoop { loop in
            loop.propagation.asOneChange {
                for index in futures.indices {
                    // `futures` keeps the cell alive.
                    let future = futures[index].pointer
                    guard admits(future) else { continue }
                    let member = keep(
                        Cell(
                            loop, state: .pending, flags: [.hasStep, .hasTrivialValue],
                            behavior: behavior.copy()))
                    member.initializePayload(MemberStep(receiver, index))
                    member.retainNew()
                    future.root.registerObserver(member, when: interest)
                }
            }
            loop.propagation.finishChange()
        }
        behavior.release()
    }

    /// Runs `step` when `future` completes. For an outcome in `queued`, the ready queue runs `step`, since `step` then
    /// calls a user's closure. For any other outcome, `step` runs at once. `isWork` says that `future` is no input of
    /// the group: a user's closure has returned it. A group waits for one such future at a time.
    func wait<S: Step>(
        for future: Cell, queued: Cell.Interest = [], isWork: Bool = false, step: S
    ) where S.Output == Void {
        guard admits(future.pointer, atItsEnd: isWork) else { return }
        let member = future.waiting(step)
        if isWork { work = member } else { keep(member) }
        future.registerObserver(member, when: queued.union(.atOnce))
        // The closure that has returned the work may have ended the group.
        if isWork, isOver { settled() }
    }

    /// Returns whether the group waits for `future`. A group that is over lets the future go, unless `atItsEnd` is
    /// `true`.
    @inline(__always)
    private func admits(_ future: CellPointer, atItsEnd: Bool = false) -> Bool {
        guard target.pointer.withLoop({ future.isOf($0) }) else { Misuse.foreignFuture() }
        if atItsEnd || !isOver { return true }
        letGo(future.object)
        return false
    }

    /// Whether the group has its outcome, or has been cancelled. Does not check the thread.
    private var isOver: Bool { target.pointer.root.isCompleted }

    /// Adds `member` to the list, which takes over the caller's reference.
    @inline(__always) @discardableResult
    private func keep(_ member: consuming Cell) -> CellPointer {
        let pointer = member.pointer
        unsafe _ = Unmanaged.passRetained(consume member)
        unsafe members.append(pointer)
        return pointer
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

    override var subject: String? { "a group" }

    override var allAwaited: [Awaited] {
        let members = unsafe members + (work.map { [$0.pointer] } ?? [])
        return members.compactMap { member in member.isCompleted ? nil : member.source.map { .cell($0) } }
    }

    /// Stops waiting for the futures that are pending: the group has its outcome or was cancelled.
    override func settled() {
        watch.take()?.end()
        work.take()?.stopObserving(cancelling: true)
        let members = unsafe exchange(&self.members, with: [])
        // All steps are dropped before the first future is asked to cancel, since its cancellation may
        // complete other futures.
        for member in members { member.dropStep() }
        for member in members {
            if member.source != nil { member.object.stopObserving(cancelling: cancelRemaining != .never) }
            member.release()
        }
        receiver = nil
    }
}
