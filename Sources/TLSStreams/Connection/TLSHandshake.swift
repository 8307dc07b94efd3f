internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import UVFutures

/// A handshake under way: it ends with a connection or with an error.
final class TLSHandshake {
    private unowned let transport: TLSTransport
    private let limits: StreamLimits
    private let promise: Promise<TLSConnection>
    private var timer: ScheduledTask<Void>?
    /// The host that was asked for, for an error.
    private let host: String?
    /// Whether the handshake waits for a context by the name that the client has asked for.
    private(set) var isChoosing = false
    /// The error of that choice.
    private var refusal: (any Error)?

    init(_ transport: TLSTransport, host: String?, limits: StreamLimits) {
        self.transport = transport
        self.host = host
        self.limits = limits
        promise = transport.inner.core.makePromise(of: TLSConnection.self)
    }

    /// Begins the handshake, which fails when `timeout` has passed.
    func start(within timeout: Duration) -> Future<TLSConnection> {
        let transport = transport
        promise.onCancelRequest {
            transport.handshake?.cancel()
            return .continue
        }
        timer = transport.inner.core.schedule(after: timeout) {
            transport.handshake?.timedOut(timeout)
        }
        timer?.future.ignoreFailure()
        let future = promise.future
        proceed()
        return future
    }

    /// Goes on with the bytes that have come.
    func proceed() {
        guard !isChoosing else { return }
        switch transport.engine.handshake() {
        case .done: complete()
        case .wantsInput: transport.flush()
        case .wantsChoice(let name): choose(by: name)
        case .ended: fail(TLSError(.handshakeCut, peer: transport.peer))
        case .failed(let failure): fail(refusal ?? error(failure))
        }
    }

    private func error(_ failure: OpenSSLFailure) -> TLSError {
        let reason = failure.isEnd && failure.fault == 0 ? TLSError.Reason.handshakeCut : failure.reason
        guard reason == .wrongHost, let host else { return transport.error(reason, failure) }
        return TLSError(reason, peer: transport.peer, certificate: failure.certificate, detail: host)
    }

    private func complete() {
        stop()
        transport.handshake = nil
        transport.engine.keepRenewedSession()
        let connection = TLSConnection(transport, limits: limits)
        transport.flush()
        promise.succeed(connection)
    }

    func fail(_ error: any Error) {
        stop()
        transport.giveUp(resetting: false)
        promise.fail(error)
    }

    private func timedOut(_ limit: Duration) {
        stop()
        let error = TLSError(.handshakeTimedOut, peer: transport.peer, detail: "\(limit)")
        transport.giveUp(resetting: true)
        promise.fail(error)
    }

    private func cancel() {
        stop()
        transport.giveUp(resetting: true)
        promise.cancel()
    }

    private func stop() { timer.take()?.cancel() }

    // MARK: The choice by name

    private func choose(by name: String?) {
        guard case .server(let configuration) = transport.context.role,
            let choose = configuration.chooseContext
        else {
            return goOn(with: transport.context)
        }
        isChoosing = true
        do {
            try choose(name).whenComplete { [transport] result in transport.handshake?.chose(result) }
        } catch {
            let core = transport.inner.core
            core.later { [transport] in transport.handshake?.chose(.failure(error)) }
        }
    }

    private func chose(_ result: Result<TLSContext?, any Error>) {
        isChoosing = false
        switch result {
        case .success(let context?): goOn(with: context)
        case .success(nil): goOn(with: transport.context)
        case .failure(let error):
            refusal = error
            transport.engine.choose(nil)
        }
        transport.resume()
    }

    private func goOn(with context: TLSContext) {
        guard case .server(let configuration) = context.role else {
            trap("chooseContext returned a client's context. Make it with TLSContext.server.")
        }
        transport.engine.choose(context.raw)
        transport.engine.verify(configuration, at: transport.inner.loop.date)
    }
}

extension OpenSSLConnection {
    /// Sets what clients are asked for.
    func verify(_ configuration: TLSServerConfiguration, at now: Date) {
        let wanted = configuration.clientCertificates
        verify(asks: wanted != .none, requires: wanted == .required, at: now)
        decide = configuration.trust.decide
    }
}
