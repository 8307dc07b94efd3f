public import Futures

extension PipelinedClient {
    /// Completes when the client was closed, its connection has ended, and the callbacks of the requests that failed have
    /// run. Fails only with `FutureError.shutDown`, if the
    /// loop is shut down before. Cancelling this future changes nothing.
    public var closed: Future<Void> {
        core.checkThread()
        return closedPromise.future
    }

    /// Closes the client at once. Returns the future ``closed``.
    ///
    /// Requests under way fail with ``PipelineError/answerLost(cause:)``, and requests that wait fail with
    /// `FutureError.closed`. What has been written is still sent. A second call changes nothing.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        end(FutureError.closed("client"))
        return closed
    }

    /// Refuses further requests, and closes the client when all requests have been answered or have failed, but after
    /// `deadline` at the latest. Returns the future ``closed``. Then ``PipelineStatistics/lost`` and
    /// ``PipelineStatistics/unsent`` of ``statistics`` say how many requests have got no answer.
    ///
    /// While requests wait and there is no connection, the client still connects. If several calls give different times,
    /// the earliest counts. Fails with `FutureError.invalidArgument` if `deadline` is negative.
    @discardableResult
    public func drain(within deadline: Duration) -> Future<Void> {
        core.checkThread()
        do { try requireNotNegative(deadline, givenTo: "drain(within:)") } catch { return core.failed(error) }
        isDraining = true
        endIfDrained()
        guard state != .closed else { return closed }
        let timer = core.schedule(after: deadline) { [self] in _ = close() }
        closed.whenComplete { _ in timer.cancel() }
        return closed
    }

    func end(_ error: any Error) {
        guard state != .closed else { return }
        state = .closed
        let connection = connection
        cancelStep.take()?()
        let unsent = waiting.all
        for request in unsent { remove(request) }
        for request in unsent { fail(request, error) }
        guard let connection else {
            return tellClosed()
        }
        connection.end(error, inOrder: true)
        connection.stream.closed.whenComplete { [self] _ in tellClosed() }
    }

    private func tellClosed() {
        core.afterCallbacks { [closedPromise] in closedPromise.succeed() }
    }
}

extension PipelinedClient: ScopeMember {
    /// The membership of this client in a scope, as a resource: ends by ``close()``.
    public var membership: ScopeMembership {
        ScopeMembership(ended: closed, cancel: { self.close() }, release: { self.close() })
    }
}
