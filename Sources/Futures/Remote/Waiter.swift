/// Somebody elsewhere who waits for a future: a consumer of it, and the way to tell them.
class Waiter: Remote {
    /// Whether it keeps `run` from returning. If not, it hears when `run` has nothing left to do.
    final let keepsAlive: Bool
    final let loop: EventLoop
    final let id: UInt64
    fileprivate final var observer: CellObject?

    init(_ loop: EventLoop, id: UInt64, keepsAlive: Bool) {
        self.loop = loop
        self.id = id
        self.keepsAlive = keepsAlive
    }

    /// Called once: with the completed cell, from the ready queue, or with the error that ended the wait.
    func ended(_ end: Result<Cell, any Error>) {}

    final func end(with error: any Error) {
        // A future that has completed by now is read nevertheless: its value may be gone otherwise.
        guard let observer, !observer.isQueued else { return }
        if keepsAlive { loop.letGo() }
        observer.stopObserving(cancelling: true)
        ended(.failure(error))
    }

    /// Begins to wait. `endRemote` ends that by the number.
    final func wait(for cell: CellObject) {
        guard cell.cell.isOf(loop) else { Misuse.foreignFuture() }
        if keepsAlive { loop.hold() }
        loop.remotes[id] = self
        observer = cell.observe(WaitStep(waiter: self), when: .all)
    }

    fileprivate final func hasCompleted(_ cell: Cell) {
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

private final class ClosureWaiter<Value>: Waiter {
    private let resume: (Result<Value, any Error>) -> Void

    init(
        _ loop: EventLoop, id: UInt64, keepsAlive: Bool, resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        self.resume = resume
        super.init(loop, id: id, keepsAlive: keepsAlive)
    }

    override func ended(_ end: Result<Cell, any Error>) {
        resume(end.flatMap { $0.readResult(as: Value.self) })
    }
}

extension EventLoop {
    /// Calls `resume` once: with the outcome of `future`, or with the error of `endRemote`.
    func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, keepsAlive: Bool,
        resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        let waiter = ClosureWaiter(self, id: id, keepsAlive: keepsAlive, resume: resume)
        waiter.wait(for: future.cell)
    }

    /// Tells those who block a thread, and do not keep `run` from returning, that it has nothing left to do.
    func endStalledWaiters() {
        let stalled = remotes.filter { ($0.value as? Waiter)?.keepsAlive == false }
        for id in stalled.keys.sorted() { remotes.removeValue(forKey: id)?.end(with: FutureError.stalled) }
    }
}
