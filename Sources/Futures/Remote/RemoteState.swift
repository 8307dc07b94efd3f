/// The state that a remote promise and its future share. The two are used on different threads.
final class RemoteState<Value: Sendable>: Sendable {
    private struct State {
        var isMade = false
        /// Whether the promise was completed, on any thread.
        var isCompleted = false
        /// Whether the future has completed on the loop.
        var isSettled = false
        var isCancelled = false
        var handler: (@Sendable () -> CancelResponse<Value>)?
        /// Whether the handler has been called. A called handler is kept until the future completes, since it
        /// may hold the promise.
        var isAsked = false
        /// The futures of other loops that the promise waits for.
        var sources: [RemoteSource] = []
    }

    let id: UInt64
    /// Whether the loop removes the promise from its table when the future completes, without waiting for the
    /// release of the promise.
    private let isForgottenAtEnd: Bool
    private let state = Locked(State())

    init(id: UInt64, isForgottenAtEnd: Bool) {
        self.id = id
        self.isForgottenAtEnd = isForgottenAtEnd
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether the loop's inbox still has a job that concerns this promise.
    var isInFlight: Bool { state.withLock { !$0.isMade || ($0.isCompleted && !$0.isSettled) } }

    /// Whether the release of the promise does not matter to the loop.
    var isForgotten: Bool { isForgottenAtEnd && state.withLock { $0.isCompleted } }

    /// Marks the promise as completed. Returns `false` if it was completed before.
    func complete() -> Bool { !state.withLock { exchange(&$0.isCompleted, with: true) } }

    /// Sets the handler. Returns `false` if the future has already been cancelled.
    func setHandler(_ handler: @escaping @Sendable () -> CancelResponse<Value>) -> Bool {
        let (former, wasCancelled) = state.withLock { state in
            defer { if !state.isCompleted { (state.handler, state.isAsked) = (handler, false) } }
            return (state.handler, state.isCancelled)
        }
        // Releases the former handler outside of the lock, since objects that it holds may use the promise.
        withExtendedLifetime(former) {}
        return !wasCancelled
    }

    /// Adds `source`. Returns `false` if the future has completed: then nobody needs the source.
    func addSource(_ source: RemoteSource) -> Bool {
        state.withLock { state in
            if !state.isSettled { state.sources.append(source) }
            return !state.isSettled
        }
    }

    func forgetSource(_ source: RemoteSource) { state.withLock { $0.sources.removeAll { $0 == source } } }

    /// Returns the loop's side of the promise, and makes it at the first call. Returns `nil` if it has been
    /// removed. On the loop's thread.
    func entry(on loop: LoopCore) -> RemoteEntry<Value>? {
        if let remote = loop.remotes[id] { return remote as? RemoteEntry }
        let wasMade = state.withLock { exchange(&$0.isMade, with: true) }
        guard !wasMade, loop.ending.phase != .closed else { return nil }
        let entry = RemoteEntry(loop, self)
        loop.remotes[id] = entry
        return entry
    }

    fileprivate var hasHandler: Bool { state.withLock { $0.handler != nil } }

    /// Returns the handler, or `nil` if there is no handler or it has been called before.
    fileprivate func handlerToCall() -> (@Sendable () -> CancelResponse<Value>)? {
        state.withLock { state in
            defer { state.isAsked = true }
            return state.isAsked ? nil : state.handler
        }
    }

    fileprivate func settled(isCancelled: Bool) {
        let (handler, sources) = state.withLock { state in
            state.isCompleted = true
            state.isSettled = true
            state.isCancelled = isCancelled
            defer { state.sources = [] }
            return (state.handler.take(), state.sources)
        }
        for source in sources { source.end() }
        withExtendedLifetime(handler) {}
    }
}

/// A wait for a future of `loop`, on behalf of a promise of a different loop. `id` is the number of the wait.
struct RemoteSource: Hashable, Sendable {
    let loop: LoopCore
    let id: UInt64

    /// Ends the wait. Asks the future to cancel, if nothing else waits for it. May be called on any thread.
    func end() { loop.endRemote(id, with: CancellationError()) }
}

/// The loop's side of a remote promise. It is the producer of the promise's future.
final class RemoteEntry<Value: Sendable>: Producer, Remote {
    let cell: Cell
    var endsWithRun: Bool { false }
    /// Called when the future has completed, whatever the outcome.
    var onSettled: (() -> Void)?
    private let shared: RemoteState<Value>

    fileprivate init(_ loop: LoopCore, _ shared: RemoteState<Value>) {
        self.shared = shared
        cell = Cell.plain(loop, state: .pending, of: Value.self)
        super.init()
        cell.promiseWasMade(#fileID, #line)
        cell.setProducer(self)
        loop.hold()
    }

    func end(with error: any Error) {
        cell.pointer.countPromiseOut()
        cell.fail(error)
    }

    override var answersRequests: Bool { shared.hasHandler }

    override func cancellationRequested(by cell: CellPointer, options: CancelOptions) -> Answer {
        guard shared.hasHandler else { return .cancel }
        guard let handler = shared.handlerToCall() else { return .willComplete }
        return cell.withLoop { loop in
            loop.propagation.whileAsking { handler().untyped?(cell.object) ?? .willComplete }
        }
    }

    override var subject: String? { onSettled == nil ? "a remote promise" : "a job of another thread" }

    override func settled() {
        cell.loop.letGo()
        shared.settled(isCancelled: cell.pointer.state == .cancelled)
        onSettled.take()?()
    }
}
