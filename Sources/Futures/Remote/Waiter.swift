/// A consumer that waits for a future on behalf of another thread. Does not keep `run` from returning.
private final class Waiter: Remote {
    private let loop: LoopCore
    private let id: UInt64
    /// Whether the wait ends when a run finds nothing left to do.
    let endsWithRun: Bool
    /// Called once: with the completed cell, from the ready queue, or with the error that ended the wait.
    private let ended: (Result<CellPointer, any Error>) -> Void
    private var observer: Cell?

    init(
        _ loop: LoopCore, id: UInt64, endsWithRun: Bool,
        ended: @escaping (Result<CellPointer, any Error>) -> Void
    ) {
        self.loop = loop
        self.id = id
        self.endsWithRun = endsWithRun
        self.ended = ended
    }

    /// Begins to wait. `endRemote` ends the wait by its number.
    func wait(for cell: Cell) {
        guard cell.pointer.isOf(loop) else { Misuse.foreignFuture() }
        loop.remotes.entries[id] = self
        observer = cell.observe(WaitStep(waiter: self), when: .all)
    }

    func end(with error: any Error) {
        // A future that has completed by now is read nevertheless: its value may be gone otherwise.
        guard let observer, !observer.isQueued else { return }
        observer.stopObserving(cancelling: true)
        ended(.failure(error))
    }

    fileprivate func hasCompleted(_ cell: CellPointer) {
        loop.remotes.entries[id] = nil
        ended(.success(cell))
    }
}

private struct WaitStep: Step {
    let waiter: Waiter

    func run(source: CellPointer, target _: CellPointer) { waiter.hasCompleted(source) }

    typealias Output = Void
}

extension LoopCore {
    /// Calls `resume` once: with the outcome of `future`, or with the error of `endRemote`.
    func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, endsWithRun: Bool,
        resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        let waiter = Waiter(self, id: id, endsWithRun: endsWithRun) { end in
            resume(end.flatMap { $0.readResult(as: Value.self) })
        }
        waiter.wait(for: future.cell)
    }

    /// Ends the waits that block a thread, since `run` has nothing left to do.
    func endStalledWaiters() {
        let stalled = remotes.entries.filter { ($0.value as? Waiter)?.endsWithRun == true }
        for id in stalled.keys.sorted() {
            remotes.entries.removeValue(forKey: id)?.end(with: FutureError.stalled)
        }
    }
}
