internal import ByteStreams
internal import Futures
internal import UVFutures

/// What a server does with each TCP connection: a handshake, and then the handler.
final class TLSAcceptance {
    let context: TLSContext
    private let core: LoopCore
    private let limits: StreamLimits
    private let handshakes: TLSHandshakeLimits
    private let line: FutureSemaphore
    private let handler: (TLSConnection) throws -> Future<Void>?
    var onConnectionError: ((any Error) -> Void)?
    var onHandshakeFailure: ((any Error) -> Void)?
    var statistics = TLSHandshakeStatistics()
    /// The time after which a draining server ends connections that have sent nothing.
    var patience: Duration = .zero
    private var reports: [TLSError.Reason?: ReportLimit] = [:]

    init(
        _ context: TLSContext, _ limits: StreamLimits, _ handshakes: TLSHandshakeLimits,
        _ handler: @escaping (TLSConnection) throws -> Future<Void>?
    ) throws {
        try handshakes.validate()
        self.context = context
        core = context.core
        self.limits = limits
        self.handshakes = handshakes
        self.handler = handler
        line = FutureSemaphore(count: handshakes.maxConcurrent, on: context.loop)
    }

    func accept(_ tcp: TCPConnection) {
        tcp.endsWhenIdle = false
        let deadline = core.now.advanced(by: handshakes.timeout)
        line.acquire().timeout(after: handshakes.timeout).whenComplete { [self] turn in
            switch turn {
            case .success(let permit): shakeHands(tcp, until: deadline, permit)
            case .failure:
                tcp.abort()
                failed(TLSError(.handshakeTimedOut, peer: "\(tcp)", detail: "\(handshakes.timeout)"), of: tcp)
            }
        }
    }

    private func shakeHands(_ tcp: TCPConnection, until deadline: LoopInstant, _ permit: Permit) {
        statistics.underWay += 1
        let left = max(.nanoseconds(1), core.now.duration(to: deadline))
        tcp.startTLS(server: context, limits: limits, timeout: left).whenComplete { [self] result in
            statistics.underWay -= 1
            permit.release()
            switch result {
            case .success(let connection): serve(connection, over: tcp)
            case .failure(let error):
                if tcp.isOpen { tcp.abort() }
                failed(error, of: tcp)
            }
        }
    }

    private func serve(_ connection: TLSConnection, over tcp: TCPConnection) {
        statistics.completed += 1
        if connection.isResumed { statistics.resumed += 1 }
        do {
            let handled = try handler(connection)
            handled?.whenComplete { [self] result in self.handled(connection, result) }
        } catch {
            handled(connection, .failure(error))
        }
        let beginDraining = { [self, weak connection] in connection?.beginDraining(patience: patience) ?? () }
        if tcp.isDraining { beginDraining() } else { tcp.onDraining = beginDraining }
    }

    private func handled(_ connection: TLSConnection, _ result: Result<Void, any Error>) {
        switch result {
        case .success: connection.close().whenFailure { [self] error in report(error, of: connection) }
        case .failure(let error):
            let cause = (error as? CleanUpError)?.error ?? error
            // The handler wrote after the half-close of a draining server: the peer has sent another message.
            if connection.isDraining, cause as? StreamError == .writeSideShutDown {
                return handled(connection, .success(()))
            }
            if connection.isOpen { connection.abort() }
            report(error, of: connection)
        }
    }

    private func report(_ error: any Error, of connection: TLSConnection) {
        guard !isExpected(error, connection.underlying) else { return }
        if let onConnectionError { return onConnectionError(error) }
        core.reportUnhandled(error, of: "the handler of \(connection)")
    }

    /// Whether `error` comes from a cancellation, or from a shutdown of the server or of the loop.
    private func isExpected(_ error: any Error, _ tcp: ByteStream) -> Bool {
        switch error {
        case is CancellationError, FutureError.shutDown: true
        case StreamError.connectionClosed: tcp.isAborted
        default: false
        }
    }

    private func failed(_ error: any Error, of tcp: TCPConnection) {
        guard !isExpected(error, tcp) else { return }
        let reason = (error as? TLSError)?.reason
        if let reason { statistics.failed[reason, default: 0] += 1 } else { statistics.otherwiseFailed += 1 }
        guard reports[reason, default: ReportLimit()].admits(at: core.clock) else { return }
        core.tell(.warning("a handshake failed: \(error). Said once a minute at most for each reason."))
        onHandshakeFailure?(error)
    }
}
