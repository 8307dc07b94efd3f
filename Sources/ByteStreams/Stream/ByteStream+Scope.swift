public import Futures

/// The scope of a stream, with the end of its handler, which is a member.
final class StreamScope {
    let scope: FutureScope
    fileprivate let handler: Promise<Void>
    /// Whether there was a handler.
    fileprivate var handlerHasEnded = false

    fileprivate init(of stream: ByteStream) {
        scope = FutureScope(on: stream.core)
        handler = stream.core.makePromise()
        let cancel = { [weak stream] in stream?.handlerOfConnection?.cancel() ?? () }
        scope.add(ScopeMembership(ended: handler.future, cancel: cancel))
    }

    /// Whether a member has not ended, besides the handler.
    var hasMembersAtWork: Bool { scope.count > 1 }

    /// Ends the members that work for a connection that is not there any more.
    func streamDidClose(isHandled: Bool) {
        scope.cancel(sparing: handler.future)
        if !isHandled { handler.succeed() }
    }
}

extension ByteStream {
    /// The scope for work that belongs to this connection, such as a body that sends heartbeats.
    ///
    /// The handler of the connection is a member. So the server closes the connection when the handler and all other
    /// members have ended. If a member fails, the handler and the other members are cancelled, and the server treats the
    /// error as that of the handler. When the server drains, the scope drains.
    ///
    /// When the connection has closed, all members are cancelled except the handler. The scope of a connection without
    /// a handler then ends, too: of a client, or of a server whose handler owns its connections.
    ///
    /// ```swift
    /// connection.scope.run(onDrain: .cancel) {
    ///     for try await _ in loop.ticks(every: .seconds(10)) { connection.write("tick\n") }
    /// }
    /// ```
    public final var scope: FutureScope {
        core.checkThread()
        if let state = scopeState { return state.scope }
        let state = StreamScope(of: self)
        if isDraining { state.scope.beginDraining() }
        if phase == .closed { state.streamDidClose(isHandled: handlerOfConnection != nil) }
        core.streamState.scopes[ObjectIdentifier(self)] = state
        madeDetails.hasScope = true
        return state.scope
    }

    final var scopeState: StreamScope? {
        details?.hasScope == true ? core.streamState.scopes[ObjectIdentifier(self)] : nil
    }

    /// Ends the scope of a stream that is released. It has no handler, which would keep it.
    final func releaseScope() {
        guard let scopeState else { return }
        core.streamState.scopes[ObjectIdentifier(self)] = nil
        scopeState.streamDidClose(isHandled: false)
    }

    // MARK: For the server

    /// Notes that the handler has begun, and has a future.
    package final func handlerBegan(_ handling: OutcomeWait?) {
        self.handling = handling
        if scopeState?.scope.isCancelled == true { handling?.cancel() }
    }

    /// The handler of this stream, or of the one that carries it: a handler may have upgraded its connection.
    final var handlerOfConnection: OutcomeWait? { handling ?? transport.handling }

    /// Whether there is a handler with a future, or was one.
    package final var hasHandler: Bool {
        handlerOfConnection != nil || scopeState?.handlerHasEnded == true
    }

    /// Whether the handler, or another member of the scope, has not ended.
    package final var hasWork: Bool { handlerOfConnection != nil || scopeState?.scope.isOver == false }

    /// Cancels the handler, and the members of the scope. Returns `false` if no handler hears of it, and ends the connection.
    package final func cancelWork() -> Bool {
        guard hasWork else { return false }
        let isHandled = hasHandler
        scopeState?.scope.cancel()
        // A scope that was cancelled because the connection has closed has spared it.
        handlerOfConnection?.cancel()
        return isHandled
    }

    /// Notes that the handler has ended with `result`. Returns the end of the scope, or `nil` if there is no scope.
    package final func handlerEnded(_ result: Result<Void, any Error>) -> Future<Void>? {
        guard let state = scopeState else { return nil }
        if case .failure(is CancellationError) = result { state.scope.cancel() }
        state.handlerHasEnded = true
        state.handler.complete(result)
        return state.scope.ended
    }
}

extension ByteStream: ScopeMember {
    /// The membership of this stream in a scope, as a resource: ends by ``close(within:)`` or, if the scope is cancelled, by
    /// ``abort()``. If the scope drains, ``draining`` completes. The stream has failed if ``closed`` fails.
    public final var membership: ScopeMembership {
        var membership = ScopeMembership(
            ended: closed, cancel: { self.abort() }, drain: { _ in self.beginDraining() },
            release: { self.close() })
        // Readers and writers hear of what breaks the connection, and only `closed` tells what its end has lost.
        membership.isTold = { error in
            switch error as? StreamError {
            case .flushTimedOut, .unacknowledged: false
            default: true
            }
        }
        return membership
    }
}
