public import Futures

extension ByteStream {
    /// The steps that a draining server takes with a connection.
    enum Drain {
        case none
        /// The server has told the handler.
        case told
        /// The server has half-closed the connection.
        case halfClosed
        /// Something was written after the half-close. The peer does not get it.
        case cut
    }

    /// Completes when the server of this connection begins to drain. If the connection ends before that, this future is
    /// cancelled.
    ///
    /// Cancelling this future changes nothing for other code that waits for the future.
    public final var draining: Future<Void> {
        core.checkThread()
        if let promise = details?.drainingPromise { return promise.future }
        let promise = core.makeSharedPromise()
        promise.isCalled("the drain of the server of \(name)")
        madeDetails.drainingPromise = promise
        if isDraining { promise.succeed() } else { closed.whenComplete { _ in promise.cancel() } }
        return promise.future
    }

    /// Marks an answer to the peer as under way until `answer` completes. Until then, a draining server does not end
    /// the connection, and what is written counts as an answer, even while a read waits. Returns a future with the
    /// outcome of `answer`.
    ///
    /// A server recognizes an answer by itself if a closure of ``forEachMessage(decodedBy:_:)`` writes it, if the
    /// future of such a closure waits for it, or if the handler waits for it before it reads on. Call this method for
    /// an answer that a later callback writes, while the next message is already being read.
    ///
    /// ```swift
    /// let served = connection.forEachMessage(decodedBy: LengthPrefixDecoder(.uint8)) { _, bytes in
    ///     connection.answering(sign(Data(copying: bytes)).flatMap { connection.write($0) })
    ///     return loop.succeeded()    // the next message need not wait
    /// }
    /// ```
    @discardableResult
    public final func answering<Value>(_ answer: Future<Value>) -> Future<Value> {
        core.checkThread()
        let answer = answer.given(to: core)
        madeDetails.answersUnderWay += 1
        return answer.always { [self] in
            details?.answersUnderWay -= 1
            noteIdle()
        }
    }
}

extension ByteStream {
    final var isEndedByDrain: Bool { drain == .halfClosed || drain == .cut }

    /// Whether something was written after a draining server had ended the connection.
    package final var wasCut: Bool { drain == .cut }

    /// Tells the handler that the server drains. Ends the connection as soon as there is evidence that the handler waits for
    /// nothing but the next message.
    package final func beginDraining() {
        guard !isDraining else { return }
        drain = .told
        details?.drainingPromise?.succeed()
        scopeState?.scope.beginDraining()
        details?.carried?.beginDraining()
        endSoonIfIdle()
    }

    final func noteIdle() {
        if isDraining, isIdle { endSoonIfIdle() }
    }

    /// Checks in the next turn: what a callback begins to wait for counts only when the callback has returned.
    private func endSoonIfIdle(fresh: Bool = false) {
        core.later(on: .nextTurn) { [self] in endIfIdle(fresh: fresh) }
    }

    /// Half-closes the connection if its handler waits for nothing but the next message, has answered the last one, and
    /// has never written while a read waited, and if no other member of the scope is at work. If `fresh` is `true`, does so
    /// also if the peer has sent nothing yet.
    package final func endIfIdle(fresh: Bool = false) {
        if let scopeState, scopeState.hasMembersAtWork {
            return scopeState.scope.onMemberEnd { [weak self] in self?.endSoonIfIdle(fresh: fresh) }
        }
        if let carried = details?.carried { return carried.endIfIdle(fresh: fresh) }
        guard endsWhenIdle, isIdle, !hasPushed, fresh || exchange == .answered, waitsForMessage else {
            return
        }
        // The next message is there, and will be read.
        guard !transport.hasArrivals else { return endSoonIfIdle(fresh: fresh) }
        drain = .halfClosed
        shutdownWrite()
    }

    /// Whether the handler waits for nothing but the next message. A handler that owns the connection may be doing
    /// anything else, unless the peer has sent nothing yet.
    private var waitsForMessage: Bool {
        guard let reader, reader.readsMessages || exchange == .fresh else { return false }
        // The handler may have upgraded its connection to this one.
        return handlerOfConnection?.isOnly(for: reader) ?? (exchange == .fresh)
    }

    /// Ends the connection because its handler has failed. Resets it, unless ``wasCut`` is `true`.
    package final func endFailed() {
        guard isOpen else { return }
        if wasCut { end(within: limits.closeTimeout) } else { abort() }
    }

    /// Notes that a write has come after a draining server has ended the connection.
    package final func noteCut() { drain = .cut }

    /// Returns the failed future of a write that comes too late. Only the first that loses bytes is reported.
    final func cut(losing losesBytes: Bool) -> Future<Void> {
        guard losesBytes, !wasCut else { return refused(StreamError.drained) }
        noteCut()
        transport.noteCut()
        return misused(.drained, by: "a write")
    }
}
