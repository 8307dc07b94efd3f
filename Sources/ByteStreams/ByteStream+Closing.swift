public import Futures

extension ByteStream {
    /// Completes when the connection has ended and its descriptor is closed, after all other futures of it.
    ///
    /// Fails with what broke the connection, if something did; a failure that nobody hears of is not reported.
    /// Cancelling it has no effect on others who wait for it.
    public var closed: Future<Void> {
        loop.checkThread()
        if let closedPromise { return closedPromise.future }
        guard phase != .closed else {
            if let failure { return refused(failure) }
            return loop.succeeded()
        }
        let promise = makeSharedPromise()
        closedPromise = promise
        return promise.future
    }

    /// Sends what is queued, then ends the connection. Completes as ``closed`` does.
    ///
    /// From now on reads and writes fail with ``StreamError/connectionClosed``, also a read that is pending; a
    /// `forEachChunk` completes. Bytes that have not been read are thrown away. What has not been sent within
    /// `deadline`, ``StreamLimits/closeDeadline`` if that is `nil`, is given up: the connection is aborted and
    /// fails with ``StreamError/flushTimedOut(after:unsent:)``. Does nothing the second time.
    /// Fails with ``FutureError/invalidArgument(_:)``, and closes nothing, if `deadline` is negative.
    @discardableResult
    public func close(within deadline: Duration? = nil) -> Future<Void> {
        let deadline = deadline ?? limits.closeDeadline
        guard deadline >= .zero else {
            return loop.failed(
                FutureError.invalidArgument("close(within:) was given \(deadline); give zero or more"))
        }
        let closed = closed
        inbound.removeAll()
        guard phase == .open else { return closed }
        phase = .flushing
        refusal = StreamError.connectionClosed
        failWaiting(StreamError.connectionClosed, byClose: true)
        if outbound == nil, !writeSide.isShuttingDown {
            closeTransport(resetting: false)
        } else {
            closeTimer = loop.schedule(after: deadline) { [unowned self] in
                connectionBroke(StreamError.flushTimedOut(after: deadline, unsent: bufferedBytes))
            }
            closeTimer?.future.ignoreFailure()
            startReading()
        }
        return closed
    }

    /// Ends the connection now, by a reset where there is such a thing. Completes as ``closed`` does.
    ///
    /// What is queued and what has not been read is thrown away; what is pending fails with
    /// ``StreamError/connectionClosed``. Does nothing the second time.
    @discardableResult
    public func abort() -> Future<Void> {
        let closed = closed
        inbound.removeAll()
        closeTransport(resetting: true)
        failAll(StreamError.connectionClosed)
        return closed
    }

    /// The connection is of no use any more. What has been read from it remains readable.
    final func connectionBroke(_ error: any Error) {
        guard isConnected else { return }
        failure = error
        closeTransport(resetting: true)
        failAll(error)
    }

    final func closeTransport(resetting: Bool) {
        guard isConnected else { return }
        beginClosing()
        transport.close(resetting: resetting)
    }

    /// Comes before anything is failed: that releases what users captured, which may call anything here.
    private func beginClosing() {
        phase = .closing
        closeTimer?.cancel()
        closeTimer = nil
        updateHold()
    }

    /// Fails what is pending, but for `closed`, and what comes.
    private func failAll(_ error: any Error) {
        refusal = refusal ?? error
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

    private func failWaiting(_ error: any Error, byClose: Bool) {
        let reader = reader
        self.reader = nil
        reader?.fail(error, byClose: byClose)
        let writable = writablePromise
        writablePromise = nil
        writable?.fail(error)
    }
}

extension ByteStream {
    package func transportDidFail(_ error: any Error) { connectionBroke(error) }

    package func transportDidClose() {
        if isConnected {
            failure = FutureError.shutDown
            beginClosing()
            failAll(FutureError.shutDown)
        }
        phase = .closed
        if let failure { closedPromise?.fail(failure) } else { closedPromise?.succeed() }
        updateHold()
    }
}
