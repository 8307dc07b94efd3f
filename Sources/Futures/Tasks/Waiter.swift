/// A wait for a future on behalf of another thread. The wait does not keep `run` from returning.
private final class Waiter<Value>: Remote {
    let endsWithRun: Bool
    /// The observer of the future.
    private let observer: Cell
    /// Called once: with the outcome of the future, from the ready queue, or with the error that ended the wait.
    private let resume: (Result<Value, any Error>) -> Void

    init(_ observer: Cell, endsWithRun: Bool, resume: @escaping (Result<Value, any Error>) -> Void) {
        self.observer = observer
        self.endsWithRun = endsWithRun
        self.resume = resume
    }

    func end(with error: any Error) {
        // If the future has completed by now, its observer runs nevertheless: its value may be gone otherwise.
        guard !observer.isQueued else { return }
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
        let step = CompleteObserver<Value> { [self] result in
            remotes[id] = nil
            resume(result)
        }
        let observer = future.cell.waiting(step)
        remotes[id] = Waiter(observer, endsWithRun: endsWithRun, resume: resume)
        future.cell.registerOwn(observer)
    }

    /// Ends the waits that block a thread, since `run` has nothing left to do.
    func endStalledWaiters() {
        for id in remotes.filter({ $0.value.endsWithRun }).keys.sorted() {
            remotes.removeValue(forKey: id)?.end(with: FutureError.stalled)
        }
    }
}
