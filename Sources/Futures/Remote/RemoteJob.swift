/// A closure that runs once, on a different thread. If the job is cancelled before, the closure is released
/// without running. If there is no thread for it, the closure is told the reason instead.
package final class RemoteJob: Sendable {
    private struct State {
        var body: (@Sendable ((any Error)?) -> Void)?
        var hooks: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    /// The loop of the future that this job completes.
    package let loop: LoopCore
    private let state: Locked<State>

    /// `body` gets `nil` if it is to run, or else the reason why it cannot.
    package init(_ loop: LoopCore, body: @escaping @Sendable (_ refusal: (any Error)?) -> Void) {
        self.loop = loop
        state = Locked(State(body: body))
    }

    /// Whether the job has been neither started nor cancelled.
    package var isWaiting: Bool { state.withLock { $0.body != nil } }

    /// Runs the closure on the calling thread, and ends the job. With a `refusal`, tells the closure that there is no thread
    /// for it. Does nothing if the closure has been started, or if the job was cancelled.
    package func run(refusal: (any Error)? = nil) {
        // The statement releases the closure before anybody learns that the job has ended.
        if state.withLock({ $0.body.take() })?(refusal) != nil { end() }
    }

    /// Releases the closure and ends the job, if the closure has not been started.
    package func cancel() {
        if state.withLock({ $0.body.take() }) != nil { end() }
    }

    /// Calls `hook` once when the job has run or has been cancelled, on the thread that ends the job. If the
    /// job has ended already, calls `hook` at once.
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
            return exchange(&state.hooks, with: [])
        }
        for hook in hooks { hook() }
    }
}
