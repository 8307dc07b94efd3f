public import Futures

extension ByteStream {
    /// Completes when the connection has ended and its descriptor is closed. All other futures of this stream
    /// complete before that, and the callbacks of their outcomes run before that.
    ///
    /// Fails with the error that broke the connection, if there was one. If nothing observes this future, its
    /// failure is not reported. Cancelling this future does not end it: all code that waits for this future
    /// still gets the outcome.
    public var closed: Future<Void> {
        core.checkThread()
        if let promise = details?.closedPromise { return promise.future }
        if phase == .closed { return failure.map { refused($0) } ?? core.succeeded() }
        let promise = core.makeSharedPromise()
        promise.isCalled("the end of \(name)")
        madeDetails.closedPromise = promise
        return promise.future
    }

    /// Sends the queued bytes, then ends the connection. Returns the future ``closed``.
    ///
    /// From now on, reads and writes fail with ``StreamError/connectionClosed``. A pending read also fails with
    /// this error, but a pending `forEachChunk` completes without failure. Bytes that have not been read are
    /// thrown away.
    ///
    /// A socket lingers before it closes: it waits until the peer, too, has finished sending. When the system
    /// has accepted all queued bytes, this side tells the peer that nothing follows. Then this side reads
    /// what the peer still sends, and throws it away. Without lingering, the system would answer the next
    /// byte from the peer with a reset. After a reset, the peer could lose bytes that it has not read yet.
    /// The lingering ends when the peer has finished sending, or at the deadline. It ends earlier if
    /// ``StreamLimits/closeDiscardLimit`` or ``StreamLimits/maxLingering`` is exceeded.
    ///
    /// `deadline` is the time that all of this may take, counted from this call. If `deadline` is `nil`,
    /// ``StreamLimits/closeTimeout`` is used. If the system has not accepted all bytes when this time has
    /// passed, the connection is aborted, and ``closed`` fails with
    /// ``StreamError/flushTimedOut(after:unsent:)``. If the peer of a TCP connection has not acknowledged all
    /// bytes when the lingering ends, ``closed`` fails with ``StreamError/unacknowledged(bytes:)``. The
    /// system then continues to send these bytes.
    ///
    /// A later call also returns ``closed``, and does not change the deadline. If `deadline` is negative, the
    /// returned future fails with ``FutureError/invalidArgument(_:)``, and the connection stays open.
    @discardableResult
    public func close(within deadline: Duration? = nil) -> Future<Void> {
        let deadline = deadline ?? limits.closeTimeout
        do { try requireNotNegative(deadline, givenTo: "close(within:)") } catch { return core.failed(error) }
        let closed = closed
        end(within: deadline)
        return closed
    }

    /// Closes the stream as `close` does, but makes no future. The owner of the stream calls this. An owner that knows
    /// that the peer will send nothing more passes `hearingPeerOut: false`: then the stream does not wait for the peer
    /// to finish sending.
    package final func end(within deadline: Duration, hearingPeerOut: Bool = true) {
        discardUnread()
        guard phase == .open else { return }
        if endedBy == nil { endedBy = .close }
        finish(
            within: deadline, failingWith: StreamError.connectionClosed, byClose: true,
            hearingPeerOut: hearingPeerOut)
    }

    /// Closes the stream, which is open, because of `error`. The peer gets all bytes that were written.
    final func end(because error: any Error) {
        madeDetails.failure = error
        finish(within: limits.closeTimeout, failingWith: error, byClose: false)
    }

    /// Ends the connection although its handler goes on. What has been written gets ``StreamLimits/closeTimeout`` to reach
    /// the peer. Counts as aborted.
    package final func cutShort() {
        guard phase == .open else {
            if phase == .lingering, transport.unacknowledgedBytes == 0 { closeTransport(resetting: false) }
            return
        }
        if let carried = details?.carried {
            if carried.isOpen { endedBy = .abort }
            return carried.cutShort()
        }
        endedBy = .abort
        discardUnread()
        finish(within: limits.closeTimeout, failingWith: StreamError.connectionClosed, byClose: false)
    }

    private func finish(
        within deadline: Duration, failingWith error: @autoclosure () -> any Error, byClose: Bool,
        hearingPeerOut: Bool = true
    ) {
        hearsPeerOut = hearingPeerOut && !isAtEnd && transport.losesIfNotHeardOut
        phase = .flushing
        watch?.leave()
        failWaiting(error(), byClose: byClose)
        closeWhenFlushed()
        guard isConnected else { return }
        updateHold()
        let timer = core.schedule(after: deadline) { [unowned self] in closeTimedOut(deadline) }
        madeDetails.closeTimer = timer
        if hearsPeerOut {
            madeDetails.discardingStart = received
            startReading()
        }
    }

    /// Ends a stream on which nothing is pending, and does not tell the peer. The caller has passed the
    /// connection on.
    package final func letGo() {
        endedBy = .close
        closeTransport(resetting: false)
    }

    /// Takes the next step of `close`, if everything queued has been sent.
    final func closeWhenFlushed() {
        guard phase == .flushing, outbound == nil, writeSide != .shuttingDown else { return }
        guard hearsPeerOut, !isAtEnd else { return closeWhenAcknowledged() }
        guard writeSide == .open else { return isAborted ? closeWhenAcknowledged() : linger() }
        writeSide = .shuttingDown
        transport.shutdownWrite()
    }

    private func closeTimedOut(_ deadline: Duration) {
        if isAborted {
            abort()
            return
        }
        // All has been sent. Closing tells the peer that nothing follows, if nothing else has yet.
        if outbound == nil { return endLingering() }
        connectionBroke(StreamError.flushTimedOut(after: deadline, unsent: bufferedBytes))
    }

    /// Ends the connection at once. A connection that can be reset, such as a TCP connection, is reset. Returns
    /// the future ``closed``.
    ///
    /// Throws away the bytes that are queued and the bytes that have not been read. All pending futures except
    /// ``closed`` fail with ``StreamError/connectionClosed``. A later call also returns ``closed``, and changes
    /// nothing.
    @discardableResult
    public func abort() -> Future<Void> {
        let closed = closed
        discardUnread()
        if isConnected { endedBy = .abort }
        closeTransport(resetting: true)
        failAll(StreamError.connectionClosed)
        return closed
    }

    /// Ends the connection because of `error`. Bytes that have come stay readable.
    package final func connectionBroke(_ error: any Error) {
        guard isConnected else { return }
        madeDetails.failure = error
        closeTransport(resetting: true)
        failAll(error)
    }

    /// Ends the connection because the transport failed with `error`. Bytes that the transport has not
    /// delivered yet become readable, too.
    final func transportBroke(_ error: any Error) {
        if phase == .open, !isAtEnd {
            for block in transport.takeUndelivered() {
                received += block.count
                inbound.append(block)
            }
        }
        connectionBroke(error)
    }

    final func closeTransport(resetting: Bool) {
        guard isConnected else { return }
        beginClosing()
        transport.close(resetting: resetting)
    }

    private func discardUnread() {
        if hasUnread { inbound.discard(unreadBytes) }
    }

    /// Begins to close. This comes before any future fails: when a future fails, user code runs, which may
    /// call any method of the stream.
    private func beginClosing() {
        phase = .closing
        watch?.leave()
        leaveLingering()
        details?.closeTimer.take()?.cancel()
        updateHold()
    }

    /// Fails all pending futures except `closed`.
    private func failAll(_ error: any Error) {
        failWaiting(error, byClose: false)
        details?.outbound.take()?.fail(error)
        if writeSide == .shuttingDown {
            writeSide = .shutDown
            details?.shutdownPromise?.fail(error)
        }
        updateHold()
    }

    private func failWaiting(_ error: @autoclosure () -> any Error, byClose: Bool) {
        if let reader {
            self.reader = nil
            reader.fail(error(), byClose: byClose)
        }
        details?.writablePromise.take()?.fail(error())
    }
}

extension ByteStream {
    package func transportDidFail(_ error: any Error) {
        // A reader that gives way first gets the bytes that came before the failure.
        if isGivingWay, hasUnread, phase == .open, !core.isShutDown {
            return core.later(on: .nextTurn) { [self] in transportDidFail(error) }
        }
        // A lingering stream only waited for the peer to finish, and the peer has gone.
        if phase == .lingering { endLingering(because: error) } else { transportBroke(error) }
    }

    package func transportDidClose(losing error: (any Error)? = nil) {
        if isConnected {
            madeDetails.failure = FutureError.shutDown
            beginClosing()
            failAll(FutureError.shutDown)
        } else if let error, failure == nil, !isAborted {
            madeDetails.failure = error
        }
        phase = .closed
        if writeSide == .shuttingDown {
            // The transport has not answered, and told the end by closing.
            writeSide = .shutDown
            details?.shutdownPromise?.succeed()
        }
        if core.isObserved { core.tell(.closed(name, failure: failure)) }
        details?.closedPromise?.completeLast(failure: failure)
        if let onClosed = details?.onClosed.take() {
            // After the callbacks of futures that have failed before.
            core.later { [failure] in onClosed(failure) }
        }
        scopeState?.streamDidClose(isHandled: handlerOfConnection != nil)
        owner.take()?.streamDidClose(self)
        details?.carriedHold = nil
        updateHold()
    }
}
