public import Futures

extension ByteStream {
    /// What a draining server has done with the connection.
    enum Drain {
        case none
        /// It has told the handler.
        case told
        /// It has half-closed the connection.
        case halfClosed
        /// After that, something was written, which the peer does not get.
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
        madeDetails.drainingPromise = promise
        if isDraining { promise.succeed() } else { closed.whenComplete { _ in promise.cancel() } }
        return promise.future
    }

    /// Says that an answer to the peer is under way until `answer` ends. A draining server does not end the connection before,
    /// and what is written meanwhile is an answer, although a read waits.
    ///
    /// A server sees by itself an answer that is written in a closure of ``forEachMessage(decodedBy:_:)``, for which the
    /// future of such a closure waits, or for which the handler waits before it reads on. Others come from a later callback,
    /// while the next message is read already. Returns a future with the outcome of `answer`.
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
        details?.carried?.beginDraining()
        endSoonIfIdle()
    }

    final func noteIdle() {
        if isDraining, isIdle { endSoonIfIdle() }
    }

    /// Looks in the next turn, since what a callback begins to wait for counts only when the callback has returned.
    private func endSoonIfIdle(fresh: Bool = false) {
        core.later(on: .nextTurn) { [self] in endIfIdle(fresh: fresh) }
    }

    /// Half-closes the connection if its handler waits for nothing but the next message, has answered the last one, and has
    /// never written while a read waited. If `fresh` is `true`, also ends a peer that has sent nothing yet.
    package final func endIfIdle(fresh: Bool = false) {
        if let carried = details?.carried { return carried.endIfIdle(fresh: fresh) }
        guard endsWhenIdle, isIdle, !hasPushed, fresh || exchange == .answered, waitsForMessage else {
            return
        }
        // The next message is there, and will be read.
        guard !transport.hasArrivals else { return endSoonIfIdle(fresh: fresh) }
        drain = .halfClosed
        shutdownWrite()
    }

    /// Whether the handler waits for nothing but the next message. One that owns the connection may do anything, unless the
    /// peer has asked for nothing.
    private var waitsForMessage: Bool {
        guard let reader, reader.readsMessages || exchange == .fresh else { return false }
        // The handler may have upgraded its connection to this one.
        return (handling ?? transport.handling)?.isOnly(for: reader) ?? (exchange == .fresh)
    }

    /// Ends the connection because its handler has failed. Resets it, unless a draining server has told the peer the end.
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
