/// Somebody elsewhere who waits for a future: a consumer of it, and the way to tell them.
private final class Waiter: Remote {
    /// Whether it keeps `run` from returning. If not, it hears when `run` has nothing left to do.
    let keepsAlive: Bool
    private let loop: EventLoop
    private let id: UInt64
    /// Called once: with the completed cell, from the ready queue, or with the error that ended the wait.
    private let ended: (Result<Cell, any Error>) -> Void
    private var observer: CellObject?

    init(
        _ loop: EventLoop, id: UInt64, keepsAlive: Bool, ended: @escaping (Result<Cell, any Error>) -> Void
    ) {
        self.loop = loop
        self.id = id
        self.keepsAlive = keepsAlive
        self.ended = ended
    }

    /// Begins to wait. `endRemote` ends that by the number.
    func wait(for cell: CellObject) {
        guard cell.cell.isOf(loop) else { Misuse.foreignFuture() }
        if keepsAlive { loop.hold() }
        loop.remotes[id] = self
        observer = cell.observe(WaitStep(waiter: self), when: .all)
    }

    func end(with error: any Error) {
        // A future that has completed by now is read nevertheless: its value may be gone otherwise.
        guard let observer, !observer.isQueued else { return }
        if keepsAlive { loop.letGo() }
        observer.stopObserving(cancelling: true)
        ended(.failure(error))
    }

    fileprivate func hasCompleted(_ cell: Cell) {
        loop.remotes[id] = nil
        if keepsAlive { loop.letGo() }
        ended(.success(cell))
    }
}

private struct WaitStep: Step {
    let waiter: Waiter

    func run(source: Cell, target _: Cell) { waiter.hasCompleted(source) }

    typealias Output = Void
}

extension EventLoop {
    /// Calls `resume` once: with the outcome of `future`, or with the error of `endRemote`.
    func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, keepsAlive: Bool,
        resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        let waiter = Waiter(self, id: id, keepsAlive: keepsAlive) { end in
            resume(end.flatMap { $0.readResult(as: Value.self) })
        }
        waiter.wait(for: future.cell)
    }

    /// Tells those who block a thread, and do not keep `run` from returning, that it has nothing left to do.
    func endStalledWaiters() {
        let stalled = remotes.filter { ($0.value as? Waiter)?.keepsAlive == false }
        for id in stalled.keys.sorted() { remotes.removeValue(forKey: id)?.end(with: FutureError.stalled) }
    }
}
