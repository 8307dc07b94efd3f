/// A wait for a future on behalf of another thread. The wait does not keep `run` from returning.
private final class Waiter<Value>: Remote {
    let endsWithRun: Bool
    /// The observer of the future.
    fileprivate var observer: Cell?
    /// Called once: with the outcome of the future, from the ready queue, or with the error that ended the wait.
    private let resume: (Result<Value, any Error>) -> Void

    init(endsWithRun: Bool, resume: @escaping (Result<Value, any Error>) -> Void) {
        self.endsWithRun = endsWithRun
        self.resume = resume
    }

    func end(with error: any Error) {
        // If the future has completed by now, its observer runs nevertheless: its value may be gone otherwise.
        guard let observer, !observer.isQueued else { return }
        observer.stopObserving(cancelling: true)
        resume(.failure(error))
    }
}

extension LoopCore {
    /// Calls `resume` once: with the outcome of `future`, or with the error that `endRemote` is given for `id`.
    func addWaiter<Value>(
        _ id: UInt64, for future: Future<Value>, endsWithRun: Bool,
        resume: @escaping (Result<Value, any Error>) -> Void
    ) {
        guard future.cell.pointer.isOf(self) else { Misuse.foreignFuture() }
        let waiter = Waiter(endsWithRun: endsWithRun, resume: resume)
        remotes.entries[id] = waiter
        let step = CompleteObserver<Value> { [self] result in
            remotes.entries[id] = nil
            resume(result)
        }
        waiter.observer = future.cell.observe(step, when: .all)
    }

    /// Ends the waits that block a thread, since `run` has nothing left to do.
    func endStalledWaiters() {
        for id in remotes.entries.filter({ $0.value.endsWithRun }).keys.sorted() {
            remotes.entries.removeValue(forKey: id)?.end(with: FutureError.stalled)
        }
    }
}
