/// A closure that runs elsewhere, once. Cancelling it before releases it without running it.
package final class RemoteJob: Sendable {
    private struct State {
        var body: (@Sendable () -> Void)?
        var hooks: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    /// The loop of the future that this completes.
    package let loop: LoopCore
    private let state: Locked<State>

    package init(_ loop: LoopCore, body: @escaping @Sendable () -> Void) {
        self.loop = loop
        state = Locked(State(body: body))
    }

    deinit {
        // Whoever was to run it has dropped it.
        end()
    }

    /// Whether the job has been neither started nor cancelled.
    package var isWaiting: Bool { state.withLock { $0.body != nil } }

    /// Runs the closure on the calling thread, and ends the job. Does nothing if the closure has been started, or if
    /// the job was cancelled.
    package func run() {
        // The statement releases the closure before anybody learns that the job has ended.
        guard state.withLock({ $0.body.take() })?() != nil else { return }
        end()
    }

    /// Releases the closure, if it has not been started.
    package func cancel() {
        guard state.withLock({ $0.body.take() }) != nil else { return }
        end()
    }

    /// Calls `hook` once, when the job has run or has been cancelled: on the thread that ends it, or at once if it is
    /// over.
    package func whenEnded(_ hook: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.hooks.append(hook) }
            return state.hasEnded
        }
        if isLate { hook() }
    }

    private func end() {
        let hooks = state.withLock { state in
            state.hasEnded = true
            defer { state.hooks = [] }
            return state.hooks
        }
        for hook in hooks { hook() }
    }
}
