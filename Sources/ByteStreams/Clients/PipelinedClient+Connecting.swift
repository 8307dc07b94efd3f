internal import Futures

/// The state of the connection of a ``PipelinedClient``.
public enum PipelineState: String, Sendable {
    /// A connection is being made, or is being greeted.
    case connecting
    /// There is a connection, and requests are sent at once.
    case connected
    /// The last connection ended or could not be made, and the client waits before it tries again.
    case waiting
    /// The client was closed.
    case closed
}

extension PipelinedClient {
    func tryToConnect() {
        state = .connecting
        do {
            cancelStep = try open { [self] result in
                cancelStep = nil
                switch result {
                case .success(let stream): opened(stream)
                case .failure(let error): failed(error)
                }
            }
        } catch {
            failed(error)
        }
    }

    private func opened(_ stream: ByteStream) {
        stream.checkBelongs(to: core)
        guard state != .closed else {
            _ = stream.abort()
            return
        }
        let connection = PipelinedConnection(stream, of: self)
        self.connection = connection
        start(connection)
        guard let greeting else { return greeted() }
        do {
            let future = try greeting(connection).given(to: core)
            let limited = limits.greetingTimeout.map { future.timeout(after: $0) } ?? future
            cancelStep = { limited.cancel(.evenIfOthersWaiting) }
            limited.whenComplete { [self] result in
                guard self.connection === connection else { return }
                cancelStep = nil
                if case .failure(let error) = result { connection.end(error) } else { greeted() }
            }
        } catch {
            connection.end(error)
        }
    }

    private func greeted() {
        counters.connects += 1
        state = .connected
        lastError = nil
        greetedAt = core.now
        wasUseful = false
        sendWaiting()
        endIfDrained()
    }

    /// Called once, when the connection has ended, with the requests that were under way.
    func ended(_ error: any Error, _ requests: [PipelinedRequest<Message>]) {
        connection = nil
        cancelStep.take()?()
        if state == .closed { return settle(requests, error) }
        // A server that ends each connection at once must not be asked again and again.
        let lasted = greetedAt.take().map { $0.duration(to: core.now) >= backoff.maximum } ?? false
        if state == .connected, wasUseful || lasted { failures = 0 }
        let wasConnected = state == .connected
        state = .waiting
        settle(requests, error)
        wait(after: error, isFailure: !wasConnected)
    }

    private func failed(_ error: any Error) {
        guard state != .closed else { return }
        wait(after: error, isFailure: true)
    }

    private func wait(after error: any Error, isFailure: Bool) {
        state = .waiting
        lastError = error
        failures += 1
        if isFailure { counters.failedConnects += 1 }
        if error as? FutureError == .shutDown { return end(error) }
        endIfDrained()
        guard state == .waiting else { return }
        let delay = backoff.delay(afterAttempt: failures, using: &core.random)
        let sleep = core.sleep(for: delay)
        cancelStep = { sleep.cancel(.evenIfOthersWaiting) }
        sleep.whenComplete { [self] result in
            guard state == .waiting else { return }
            cancelStep = nil
            if case .failure(let error) = result { end(error) } else { tryToConnect() }
        }
    }
}
