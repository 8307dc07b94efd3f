public import Futures

extension ByteStream {
    /// Completes when the connection has ended and its descriptor is closed. All other futures of this stream complete
    /// before that.
    ///
    /// Fails with the error that broke the connection, if there was one. If nothing observes this future, its failure
    /// is not reported. Cancelling this future has no effect on anything else that waits for the end.
    public var closed: Future<Void> {
        core.checkThread()
        if let closedPromise { return closedPromise.future }
        guard phase != .closed else {
            if let failure { return refused(failure) }
            return core.succeeded()
        }
        let promise = makeSharedPromise()
        closedPromise = promise
        return promise.future
    }

    /// Sends what is queued, then ends the connection. The returned future completes as ``closed`` does.
    ///
    /// From now on reads and writes fail with ``StreamError/connectionClosed``. A pending read fails with this error,
    /// too, but a `forEachChunk` completes without failure. Bytes that have not been read are thrown away.
    ///
    /// A socket lingers: when everything is sent, this side tells the peer that nothing follows. Then this side throws
    /// away what the peer still sends, until the peer has finished sending, too. Without this, the system would answer
    /// the next byte from the peer with a reset, and the peer would lose what it has not received yet. The socket
    /// lingers until `deadline` at most. It stops earlier if ``StreamLimits/closeDiscardLimit`` or
    /// ``StreamLimits/maxLingering`` is exceeded. It does not linger if the peer has already finished sending.
    ///
    /// If something is still unsent at `deadline`, the connection is aborted and fails with
    /// ``StreamError/flushTimedOut(after:unsent:)``. If `deadline` is `nil`, ``StreamLimits/closeTimeout`` applies. If
    /// everything is sent, but the peer of a TCP connection has not acknowledged all of it at `deadline`, the system
    /// goes on to send the rest, and ``closed`` fails with ``StreamError/unacknowledged(bytes:)``.
    ///
    /// A second call does nothing. If `deadline` is negative, the returned future fails with
    /// ``FutureError/invalidArgument(_:)`` and nothing is closed.
    @discardableResult
    public func close(within deadline: Duration? = nil) -> Future<Void> {
        let deadline = deadline ?? limits.closeTimeout
        guard deadline >= .zero else {
            return core.failed(
                FutureError.invalidArgument("close(within:) was given \(deadline); give zero or more"))
        }
        let closed = closed
        end(within: deadline)
        return closed
    }

    /// Closes the stream as `close` does, for an owner, which hears of the end anyway.
    package final func end(within deadline: Duration) {
        discardUnread()
        guard phase == .open else { return }
        endedBy = .close
        finish(within: deadline) { failWaiting(StreamError.connectionClosed, byClose: true) }
    }

    /// Closes the stream because of `error`, which is not the peer's fault.
    final func end(because error: any Error) {
        guard phase == .open else { return }
        failure = error
        finish(within: limits.closeTimeout) { failWaiting(error, byClose: false) }
    }

    private func finish(within deadline: Duration, failWaiting: () -> Void) {
        hearsPeerOut = !isAtEnd && transport.losesIfNotHeardOut
        phase = .flushing
        watch?.leave()
        failWaiting()
        closeWhenFlushed()
        guard isConnected else { return }
        updateHold()
        closeTimer = core.schedule(after: deadline) { [unowned self] in closeTimedOut(deadline) }
        closeTimer?.future.ignoreFailure()
        if hearsPeerOut {
            discardingStart = received
            startReading()
        }
    }

    /// Ends a stream that is at rest, and tells the peer nothing: somebody else goes on with the connection.
    package final func letGo() {
        endedBy = .close
        closeTransport(resetting: false)
    }

    /// Takes the next step of `close`, whenever one is done.
    final func closeWhenFlushed() {
        guard outbound == nil, !writeSide.isShuttingDown else { return }
        guard hearsPeerOut, !isAtEnd else { return closeWhenAcknowledged() }
        if case .open = writeSide {
            writeSide = .shuttingDown(makeSharedPromise())
            transport.shutdownWrite()
        } else {
            linger()
        }
    }

    private func closeTimedOut(_ deadline: Duration) {
        // All has been sent. Closing tells the peer that nothing follows, if nothing else has yet.
        if outbound == nil { return endLingering() }
        connectionBroke(StreamError.flushTimedOut(after: deadline, unsent: bufferedBytes))
    }

    /// Ends the connection now, by a reset if the connection is of a kind that has resets. The returned future
    /// completes as ``closed`` does.
    ///
    /// Throws away the bytes that are queued and the bytes that have not been read. All pending futures fail with
    /// ``StreamError/connectionClosed``. A second call does nothing.
    @discardableResult
    public func abort() -> Future<Void> {
        let closed = closed
        discardUnread()
        if isConnected { endedBy = .abort }
        closeTransport(resetting: true)
        failAll(StreamError.connectionClosed)
        return closed
    }

    /// Gives the connection up because of `error`. What has been read from it remains readable.
    final func connectionBroke(_ error: any Error, resetting: Bool = true) {
        guard isConnected else { return }
        failure = error
        closeTransport(resetting: resetting)
        failAll(error)
    }

    /// Gives the connection up because the transport broke. What has come by then is readable, too.
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
        if hasUnread { inbound.removeAll() }
    }

    /// Begins the end. Comes before anything is failed: failing releases what users captured, which may call anything
    /// here.
    private func beginClosing() {
        phase = .closing
        watch?.leave()
        leaveLingering()
        closeTimer?.cancel()
        closeTimer = nil
        updateHold()
    }

    /// Fails everything pending, except `closed`, and everything that comes later.
    private func failAll(_ error: any Error) {
        failWaiting(error, byClose: false)
        if let outbound {
            self.outbound = nil
            outbound.fail(error)
        }
        if case .shuttingDown(let promise) = writeSide {
            writeSide = .shutDown
            promise.fail(error)
        }
        updateHold()
    }

    private func failWaiting(_ error: @autoclosure () -> any Error, byClose: Bool) {
        if let reader {
            self.reader = nil
            reader.fail(error(), byClose: byClose)
        }
        if let writablePromise {
            self.writablePromise = nil
            writablePromise.fail(error())
        }
    }
}

extension ByteStream {
    package func transportDidFail(_ error: any Error) {
        // A peer that was only waited for has gone.
        if phase == .lingering { endLingering(because: error) } else { transportBroke(error) }
    }

    package func transportDidClose() {
        if isConnected {
            failure = FutureError.shutDown
            beginClosing()
            failAll(FutureError.shutDown)
        }
        phase = .closed
        if core.isObserved { core.tell(.closed(name, failure: failure)) }
        if let failure { closedPromise?.fail(failure) } else { closedPromise?.succeed() }
        let owner = owner
        self.owner = nil
        owner?.streamDidClose(self)
        updateHold()
    }
}
