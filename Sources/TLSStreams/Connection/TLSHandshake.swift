internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import SystemIO

/// A handshake under way: it ends with a connection or with an error.
final class TLSHandshake {
    private unowned let transport: TLSTransport
    private let limits: StreamLimits
    private let promise: Promise<TLSConnection>
    private var timer: ScheduledTask<Void>?
    /// The host to connect to, for an error.
    private let host: String?
    /// Whether the handshake waits for a future: of the choice of a context, of a signature, or of a decision about
    /// trust.
    var isWaiting: Bool { cancelWait != nil }
    private var cancelWait: (() -> Void)?
    /// The error with which this side refuses the handshake, such as that of the future.
    private var refusal: (any Error)?
    /// Called with `true` when this side has sent what the peer has to answer, and with `false` when this side itself
    /// waits for something else.
    var onOwing: ((Bool) -> Void)?
    private var isOwed = false

    init(_ transport: TLSTransport, host: String?, limits: StreamLimits) {
        self.transport = transport
        self.host = host
        self.limits = limits
        promise = transport.inner.core.makePromise(of: TLSConnection.self)
        promise.isCalled("a TLS handshake over \(transport.inner.name)")
    }

    /// Begins the handshake, which fails when `timeout` has passed.
    func start(within timeout: Duration) -> Future<TLSConnection> {
        let transport = transport
        promise.onCancelRequest {
            transport.handshake?.cancel()
            return .continue
        }
        timer = transport.inner.core.schedule(after: timeout) {
            transport.handshake?.fail(
                TLSError(.handshakeTimedOut, peer: transport.peer, detail: "\(timeout)"), resetting: true)
        }
        let future = promise.future
        transport.resume()
        return future
    }

    /// Continues with the bytes that have arrived.
    func proceed() {
        guard !isWaiting else { return }
        switch transport.engine.handshake() {
        case .done: complete()
        case .wantsInput:
            if !isOwed || transport.engine.hasOutput { note(isOwed: true) }
            transport.flush()
        case .wantsChoice(let name): choose(by: name)
        case .wantsSignature(let request): sign(request)
        case .wantsDecision(let chain, let isTrusted): decide(chain, isTrusted)
        case .ended: fail(TLSError(.handshakeCut, peer: transport.peer))
        case .failed(let failure): fail(refusal ?? error(failure))
        }
    }

    private func note(isOwed: Bool) {
        self.isOwed = isOwed
        onOwing?(isOwed)
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
        // The last bytes of the handshake are sent together with the user's first ones.
        transport.flushLater()
        transport.inner.carried = connection
        promise.succeed(connection)
    }

    func fail(_ error: any Error, resetting: Bool = false) {
        stop()
        transport.giveUp(resetting: resetting)
        promise.fail(error)
    }

    private func cancel() {
        stop()
        transport.giveUp(resetting: true)
        promise.cancel()
    }

    private func stop() {
        timer.take()?.cancel()
        onOwing = nil
        cancelWait.take()?()
    }

    // MARK: Waiting for futures

    /// Waits for the future `make`, and continues after `body` has used its result. Cancels the future if the handshake
    /// ends first.
    private func wait<Value>(
        for make: @autoclosure () throws -> Future<Value>,
        then body: @escaping (TLSHandshake, Result<Value, any Error>) -> Void
    ) {
        let core = transport.inner.core
        let future: Future<Value>
        // A future of its own to cancel, since others may wait for the original, too.
        do { future = try make().given(to: core).map { $0 } } catch { future = core.failed(error) }
        cancelWait = { future.cancel(.evenIfOthersWaiting) }
        note(isOwed: false)
        future.whenComplete { [transport] result in
            guard let handshake = transport.handshake else { return }
            handshake.cancelWait = nil
            body(handshake, result)
            transport.resume()
        }
    }

    private func choose(by name: String?) {
        let engine = transport.engine
        do {
            engine.serverName = try name.flatMap { try Host($0, port: 0).serverName }
        } catch {
            refusal = TLSError(
                .protocolViolation, peer: transport.peer,
                detail: "the server name \(Host.quoted(name ?? "")) is not a DNS name")
            engine.refuseName()
            return proceed()
        }
        guard case .server(let configuration) = transport.context.role,
            let choose = configuration.chooseContext
        else {
            goOn(with: transport.context)
            return proceed()
        }
        wait(for: try choose(engine.serverName)) { handshake, result in
            switch result {
            case .success(let context):
                context?.noteExpiry()
                handshake.goOn(with: context ?? handshake.transport.context)
            case .failure(let error):
                handshake.refusal = error
                engine.refuseName()
            }
        }
    }

    private func sign(_ request: TLSSignatureRequest) {
        let (engine, core) = (transport.engine, transport.inner.core)
        guard let sign = engine.sign else { trap("A handshake asks for a signature, but no closure signs.") }
        wait(for: try sign(request, core)) { handshake, result in
            switch result {
            case .success(let signature):
                if engine.answer(signature: signature) { return }
                handshake.isNotSigned(request, "a signature of \(signature.count) bytes does not fit the key")
            case .failure(let error): handshake.isNotSigned(request, "\(error)")
            }
        }
    }

    private func isNotSigned(_ request: TLSSignatureRequest, _ detail: String) {
        refusal = TLSError(
            .notSigned, peer: transport.peer, certificate: request.certificate, detail: detail)
    }

    private func decide(_ chain: [TLSCertificate], _ isTrusted: Bool) {
        let engine = transport.engine
        let isAccepted = engine.trust.decide?(chain, isTrusted)
        guard isAccepted != false, let decideLater = engine.trust.decideLater else {
            engine.answer(accepting: isAccepted ?? isTrusted)
            return proceed()
        }
        wait(for: try decideLater(chain, isTrusted)) { handshake, result in
            switch result {
            case .success(let isAccepted): engine.answer(accepting: isAccepted)
            case .failure(let error): handshake.refusal = error
            }
        }
    }

    private func goOn(with context: TLSContext) {
        guard case .server(let configuration) = context.role else {
            trap("chooseContext returned a client's context. Make it with TLSContext.server.")
        }
        guard context.core === transport.inner.core else {
            trap(
                "chooseContext returned a context of another event loop. Make it on the loop of the server.")
        }
        let asksClosure = configuration.clientCertificates != .none && configuration.trust.asksClosure
        transport.engine.choose(context.raw, mayResume: !asksClosure)
        transport.engine.verify(configuration, at: transport.inner.loop.date)
    }
}

extension OpenSSLConnection {
    /// Sets whether clients are asked for a certificate, and how it is checked.
    func verify(_ configuration: TLSServerConfiguration, at now: Date) {
        let wanted = configuration.clientCertificates
        verify(asks: wanted != .none, requires: wanted == .required, at: now)
        trust = configuration.trust
    }
}
