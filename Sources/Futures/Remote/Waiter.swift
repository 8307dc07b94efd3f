/// Somebody elsewhere who waits for a future: a consumer of it, and the way to tell them.
final class Waiter: Remote {
    /// Whether it keeps `run` from returning. If not, it hears when `run` has nothing left to do.
    let keepsAlive: Bool
    private let loop: EventLoop
    private let resume: (any Error) -> Void
    fileprivate var observer: CellObject?

    fileprivate init(_ loop: EventLoop, keepsAlive: Bool, resume: @escaping (any Error) -> Void) {
        self.loop = loop
        self.keepsAlive = keepsAlive
        self.resume = resume
        if keepsAlive { loop.hold() }
    }

    func end(with error: any Error) {
        // A future that has completed by now is read nevertheless: its value may be gone otherwise.
        guard let observer, !observer.isQueued else { return }
        hasEnded()
        observer.stopObserving(cancelling: true)
        resume(error)
    }

    fileprivate func hasEnded() {
        if keepsAlive { loop.letGo() }
    }
}

extension EventLoop {
    /// Calls `resume` once: with the outcome of `future`, or with the error of `endRemote`.
    func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, keepsAlive: Bool,
        resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        guard future.cell.cell.isOf(self) else { Misuse.foreignFuture() }
        let waiter = Waiter(self, keepsAlive: keepsAlive) { resume(.failure($0)) }
        remotes[id] = waiter
        let step = CompleteObserver<Value> { [unowned self] result in
            remotes[id] = nil
            waiter.hasEnded()
            resume(result)
        }
        waiter.observer = future.cell.observe(step, when: .all)
    }

    /// Tells those who block a thread, and do not keep `run` from returning, that it has nothing left to do.
    func endStalledWaiters() {
        let stalled = remotes.filter { ($0.value as? Waiter)?.keepsAlive == false }
        for id in stalled.keys.sorted() { remotes.removeValue(forKey: id)?.end(with: FutureError.stalled) }
    }
}
