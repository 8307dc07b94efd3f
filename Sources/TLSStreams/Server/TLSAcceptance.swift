internal import ByteStreams
internal import FoundationEssentials
internal import Futures
internal import SystemIO

/// Handles each TCP connection of a server: first the handshake, then the handler.
final class TLSAcceptance {
    let context: TLSContext
    private var core: LoopCore { context.core }
    /// The server of the underlying connections, which keeps this object alive.
    weak var server: TCPServer? { didSet { places.end = { [weak server] in server?.endForAnother($0) } } }
    let limits: StreamLimits
    private let handshakes: TLSHandshakeLimits
    private let places: HandshakePlaces
    private let handler: (TLSConnection) throws -> Future<Void>?
    var onHandshakeFailure: ((any Error) -> Void)?
    var statistics = TLSHandshakeStatistics()
    private var reports: [TLSError.Reason?: ReportLimit] = [:]

    init(
        _ context: TLSContext, _ limits: StreamLimits, _ handshakes: TLSHandshakeLimits,
        _ handler: @escaping (TLSConnection) throws -> Future<Void>?
    ) throws {
        try handshakes.validate()
        self.context = context
        self.limits = limits
        self.handshakes = handshakes
        let values = context.core.carriedValues
        self.handler = { connection in try values.during { try handler(connection) } }
        places = HandshakePlaces(handshakes.maxConcurrent, on: context.loop)
    }

    func accept(_ tcp: TCPConnection) {
        let deadline = core.now.advanced(by: handshakes.timeout)
        let limit = min(handshakes.greetingTimeout, handshakes.timeout)
        statistics.silent += 1
        tcp.readMessage(decodedBy: GreetingDecoder()).timeout(after: limit).whenComplete { [self] result in
            statistics.silent -= 1
            switch result {
            case .success(let greeting?):
                server?.didIntroduceItself(tcp)
                tcp.endsWhenIdle = false
                waitForTurn(tcp, greeting, until: deadline)
            case .success(nil):
                tcp.close()
                // A draining server has ended the connection itself.
                if !tcp.isDraining { fail(tcp, TLSError(.handshakeCut, peer: "\(tcp)")) }
            case .failure(FutureError.timedOut):
                fail(tcp, TLSError(.noGreeting, peer: "\(tcp)", detail: "\(limit)"))
            case .failure(StreamError.limitExceeded(let limit)):
                let detail = "a greeting of more than \(limit) bytes"
                fail(tcp, TLSError(.protocolViolation, peer: "\(tcp)", detail: detail))
            case .failure(let error): fail(tcp, error)
            }
        }
    }

    private func waitForTurn(_ tcp: TCPConnection, _ greeting: Data, until deadline: LoopInstant) {
        places.acquire().timeout(after: left(until: deadline)).whenComplete { [self] turn in
            switch turn {
            case .success(let permit): shakeHands(tcp, greeting, until: deadline, permit)
            case .failure: tookTooLong(tcp)
            }
        }
    }

    private func left(until deadline: LoopInstant) -> Duration {
        max(.nanoseconds(1), core.now.duration(to: deadline))
    }

    private func shakeHands(
        _ tcp: TCPConnection, _ greeting: Data, until deadline: LoopInstant, _ permit: Permit
    ) {
        statistics.underWay += 1
        tcp.startTLS(
            server: context, limits: limits, timeout: left(until: deadline), after: greeting,
            onOwing: { [self] in owes(tcp, $0) }
        )
        .whenComplete { [self] result in
            statistics.underWay -= 1
            owes(tcp, false)
            permit.release()
            switch result {
            case .success(let connection): serve(connection, over: tcp)
            case .failure(let error as TLSError) where error.reason == .handshakeTimedOut: tookTooLong(tcp)
            case .failure(let error): fail(tcp, error)
            }
        }
    }

    /// Records whether the client of `tcp` owes the next message of its handshake.
    private func owes(_ tcp: TCPConnection, _ owes: Bool) {
        places.note(tcp, owes: owes)
        if owes { server?.awaitAnswer(of: tcp) } else { server?.didIntroduceItself(tcp) }
    }

    private func tookTooLong(_ tcp: TCPConnection) {
        fail(tcp, TLSError(.handshakeTimedOut, peer: "\(tcp)", detail: "\(handshakes.timeout)"))
    }

    private func fail(_ tcp: TCPConnection, _ error: any Error) {
        if tcp.isOpen { tcp.abort() }
        guard server?.isExpected(error) == false else { return }
        let reason = (error as? TLSError)?.reason
        if let reason { statistics.failed[reason, default: 0] += 1 } else { statistics.otherwiseFailed += 1 }
        guard reports[reason, default: ReportLimit()].admits(at: core.clock) else { return }
        core.tell(.warning("a handshake failed: \(error). Reported at most once a minute for each reason."))
        onHandshakeFailure?(error)
    }

    private func serve(_ connection: TLSConnection, over tcp: TCPConnection) {
        statistics.completed += 1
        if connection.isResumed { statistics.resumed += 1 }
        guard let server else {
            connection.abort()
            return
        }
        do {
            connection.handlerBegan(try handler(connection)?.whenComplete(tell: server, of: connection))
        } catch {
            server.handled(connection, .failure(error))
        }
        server.awaitMessage(of: tcp)
    }
}
