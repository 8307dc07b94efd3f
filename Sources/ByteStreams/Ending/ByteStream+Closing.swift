public import Futures

extension ByteStream {
    /// Completes when the connection has ended and its descriptor is closed, after all its other futures.
    ///
    /// Fails with what broke the connection, if something did. A failure that nobody hears of is not reported.
    /// Cancelling it has no effect on others that wait for it.
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

    /// Sends what is queued, then ends the connection. Completes as ``closed`` does.
    ///
    /// From now on reads and writes fail with ``StreamError/connectionClosed``, including a read that is pending. A
    /// `forEachChunk` completes. Bytes that have not been read are thrown away.
    ///
    /// A socket lingers. When all is sent, the peer is told that nothing follows. What it still sends is thrown away
    /// until it has finished too. Otherwise its next byte would be answered by a reset, which costs it what it has
    /// not received yet. The socket lingers until `deadline`, and no longer than ``StreamLimits/closeDiscardLimit``
    /// and ``StreamLimits/maxLingering`` allow. It does not wait for a peer that has finished before.
    ///
    /// What has not been sent within `deadline` is given up: the connection is aborted and fails with
    /// ``StreamError/flushTimedOut(after:unsent:)``. If `deadline` is `nil`, ``StreamLimits/closeTimeout`` applies.
    /// If all has been sent but a TCP connection's peer has not acknowledged it by then, the system goes on to send
    /// it, and ``closed`` fails with ``StreamError/unacknowledged(bytes:)``. Does nothing the second time. Fails with
    /// ``FutureError/invalidArgument(_:)``, and closes nothing, if `deadline` is negative.
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
        if phase == .lingering { return endLingering() }
        connectionBroke(StreamError.flushTimedOut(after: deadline, unsent: bufferedBytes))
    }

    /// Ends the connection now, by a reset where there is such a thing. Completes as ``closed`` does.
    ///
    /// Throws away what is queued and what has not been read. Everything pending fails with
    /// ``StreamError/connectionClosed``. Does nothing the second time.
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
