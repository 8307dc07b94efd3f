/// The writing side of a future, for use on any thread. A promise completes its future once.
///
/// You can pass the promise to any thread. The future stays on its loop. If several threads complete the
/// promise, the first completion wins. Until the promise is completed, it keeps ``EventLoop/run()`` from
/// returning, because the completion may come from a different thread at any time. If the promise is released
/// before it is completed, the future fails with ``FutureError/brokenPromise(file:line:)``. You may use all
/// members on any thread, except where the description says otherwise.
public final class RemotePromise<Value: Sendable>: Sendable {
    /// The loop of the future that this promise completes.
    public var loop: EventLoop { core }
    private let core: LoopCore
    let shared: RemoteState<Value>
    private let file: StaticString
    private let line: UInt

    init(_ loop: EventLoop, isForgottenAtEnd: Bool = false, file: StaticString, line: UInt) {
        core = loop.core
        self.file = file
        self.line = line
        shared = RemoteState(id: loop.core.newRemoteID(), isForgottenAtEnd: isForgottenAtEnd)
    }

    deinit {
        if shared.isForgotten { return }
        let error = FutureError.brokenPromise(file: "\(file)", line: line)
        // On the loop's own thread, the failure must not overtake a completion that a different thread has
        // submitted.
        core.endRemote(shared.id, with: error, throughInbox: shared.isInFlight)
    }

    /// The future that this promise completes. Read this property only on the loop's thread.
    ///
    /// If the loop has been shut down, the future has failed with ``FutureError/shutDown``.
    public var future: Future<Value> {
        core.checkThread()
        guard let entry = shared.entry(on: core) else { return core.failed(FutureError.shutDown) }
        return Future(entry.cell)
    }

    /// Whether the future has been cancelled. If so, no code needs the value any more, and you can stop the
    /// work.
    public var isCancelled: Bool { shared.isCancelled }

    /// Completes the future with `value`. If you call this on the loop's own thread, the future completes at
    /// once. Otherwise it completes when the loop runs next.
    ///
    /// Returns `false` if the future has already been completed or cancelled, or if the loop has been shut
    /// down.
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(.success(value)) }

    /// Fails the future with `error`. If you call this on the loop's own thread, the future fails at once.
    /// Otherwise it fails when the loop runs next. If `error` represents cancellation, the future is
    /// cancelled instead.
    ///
    /// Returns `false` if the future has already been completed or cancelled, or if the loop has been shut
    /// down.
    @discardableResult
    public func fail(_ error: any Error) -> Bool { complete(.failure(error)) }

    /// Completes the future with `result`. If you call this on the loop's own thread, the future completes at
    /// once. Otherwise it completes when the loop runs next.
    ///
    /// Returns `false` if the future has already been completed or cancelled, or if the loop has been shut
    /// down.
    @discardableResult
    public func complete(_ result: Result<Value, any Error>) -> Bool {
        guard shared.complete() else { return false }
        guard core.isCaller else {
            return core.accept { [core, shared] in shared.entry(on: core)?.cell.complete(result) }
        }
        return shared.entry(on: core)?.cell.complete(result) ?? false
    }

    /// Completes the future with the outcome of `other`, when `other` has completed. `other` may belong to a
    /// different loop. Call this function on the thread of the loop of `other`.
    ///
    /// If the future of this promise completes before `other` does, `other` is asked to cancel on its own
    /// loop, unless other code waits for it.
    ///
    /// ```swift
    /// let promise = loop.makeRemotePromise(of: [SocketAddress].self)
    /// let elsewhere = worker.loop
    /// elsewhere.execute { promise.complete(using: elsewhere.addresses(of: "example.org", port: 443)) }
    /// ```
    public func complete(using other: Future<Value>) {
        let loop = other.cell.loop
        let id = loop.newRemoteID()
        guard !loop.isShutDown else {
            complete(other.ignoreFailure().result ?? .failure(FutureError.shutDown))
            return
        }
        let source = RemoteSource(loop: loop, id: id)
        loop.addWaiter(id, for: other, endsWithRun: false) { [shared] result in
            shared.forgetSource(source)
            self.complete(result)
        }
        if !shared.addSource(source) { source.end() }
    }

    /// Sets the handler that answers a request to cancel the future. The handler runs on the loop's thread,
    /// like the handler of a ``Promise``.
    ///
    /// The handler is called at most once. A new handler replaces the earlier handler. If the future has
    /// already been cancelled, the handler is called when the loop runs next, and its answer is ignored.
    ///
    /// ```swift
    /// let promise = loop.makeRemotePromise(of: Data.self)
    /// Thread.detachNewThread {
    ///     promise.complete(Result { try Data(contentsOf: URL(filePath: "page.html")) })
    /// }
    /// promise.onCancelRequest { .continue }    // a read cannot be stopped: all wait for its end
    /// ```
    public func onCancelRequest(_ handler: @escaping @Sendable () -> CancelResponse<Value>) {
        let values = core.carriedLocals.valuesElsewhere(.all)
        let handler: @Sendable () -> CancelResponse<Value> = { values.during(handler) }
        if !shared.setHandler(handler) { core.accept { _ = handler() } }
    }
}

extension RemotePromise where Value == Void {
    /// Completes the future. If you call this on the loop's own thread, the future completes at once.
    /// Otherwise it completes when the loop runs next.
    ///
    /// Returns `false` if the future has already been completed or cancelled, or if the loop has been shut
    /// down.
    @discardableResult
    public func succeed() -> Bool { succeed(()) }
}

extension EventLoop {
    /// Creates a promise of this loop that other threads may complete. May be called on any thread.
    ///
    /// If the promise is released before it is completed, the future fails with
    /// ``FutureError/brokenPromise(file:line:)``. This error names `file` and `line`.
    ///
    /// ```swift
    /// let promise = loop.makeRemotePromise(of: Data.self)
    /// Thread.detachNewThread {
    ///     promise.complete(Result { try Data(contentsOf: URL(filePath: "page.html")) })
    /// }
    /// let size = promise.future.map { page in page.count }
    /// ```
    public func makeRemotePromise<Value>(
        of _: Value.Type = Value.self, file: StaticString = #fileID, line: UInt = #line
    ) -> RemotePromise<Value> {
        let promise = RemotePromise<Value>(self, file: file, line: line)
        core.executeAtOnce { [core, shared = promise.shared] in _ = shared.entry(on: core) }
        return promise
    }
}
