import ExampleSupport
import FoundationEssentials
import HTTP1
import TLSStreams
import UVFutures

/// What a check has found.
struct Finding: Encodable {
    enum State: String, Encodable { case up, warning, down }

    let target: String
    let state: State
    /// What is worth knowing: the status of HTTP, the days that a certificate is valid, or what went wrong.
    let detail: String
    let milliseconds: Double
    let attempts: Int
    /// The days until the certificate expires, for TLS.
    var daysLeft: Int?
}

/// Checks targets, each several times if need be.
struct Checker {
    /// A server that has an answer for a check, and something to say about it.
    private typealias Answer = (detail: String, daysLeft: Int?)

    let loop: EventLoop
    let context: TLSContext
    let timeout: Duration
    let attempts: Int
    /// A certificate that expires in fewer days is worth a warning.
    let leastDays: Int

    func check(_ target: Target) -> Future<Finding> {
        let start = loop.now
        var tries = 0
        let backoff = Backoff.exponential(initial: .milliseconds(100), maximum: .seconds(2), jitter: 0.5)
        func finding(_ state: Finding.State, _ detail: String, _ daysLeft: Int? = nil) -> Finding {
            let time = start.duration(to: loop.now) / .milliseconds(1)
            return Finding(
                target: "\(target)", state: state, detail: detail, milliseconds: (time * 10).rounded() / 10,
                attempts: tries, daysLeft: daysLeft)
        }
        return loop.retry(attempts: attempts, backoff: backoff) { number in
            tries = number
            return ask(target).timeout(after: timeout)
        }
        .map { answer in
            let isWarning = answer.daysLeft.map { $0 < leastDays } ?? false
            return finding(isWarning ? .warning : .up, answer.detail, answer.daysLeft)
        }
        .recover { error in finding(.down, "\(error)") }
    }

    private func ask(_ target: Target) -> Future<Answer> {
        switch target.kind {
        case .tcp:
            TCPConnection.connect(host: target.host, port: target.port, timeout: timeout, on: loop)
                .map { connection in
                    defer { connection.close() }
                    return ("connected to \(connection.peerAddress!)", nil)
                }
        case .udp: askDatagram(target)
        case .tls:
            encrypted(target).map { connection in
                defer { connection.close() }
                return answer(of: connection)
            }
        case .http:
            TCPConnection.connect(host: target.host, port: target.port, timeout: timeout, on: loop)
                .flatMap { request(target, on: $0) }
                .map { ($0, nil) }
        case .https:
            encrypted(target).flatMap { connection in
                let answer = answer(of: connection)
                return request(target, on: connection).map { ("\($0), \(answer.detail)", answer.daysLeft) }
            }
        }
    }

    /// Sends a datagram, and waits for any answer.
    private func askDatagram(_ target: Target) -> Future<Answer> {
        UDPSocket.connect(host: target.host, port: target.port, timeout: timeout, on: loop).flatMap {
            socket in
            socket.send(Data("ping \(target.host)\n".utf8))
            return socket.receive()
                .map { ("answered with \($0.bytes.count) bytes", nil) }
                .always { socket.close() }
        }
    }

    private func encrypted(_ target: Target) -> Future<TLSConnection> {
        TLSConnection.connect(
            host: target.host, port: target.port, context: context, timeout: timeout,
            handshakeTimeout: timeout)
    }

    private func answer(of connection: TLSConnection) -> Answer {
        let days = connection.peerCertificate.map { Int($0.notAfter.timeIntervalSince(loop.date) / 86_400) }
        return ("\(connection.version), certificate valid for \(days ?? 0) days", days)
    }

    /// Sends a request, and completes with the status if it says that all is well.
    private func request(_ target: Target, on connection: ByteStream) -> Future<String> {
        connection.write(
            "GET \(target.path) HTTP/1.1\r\nHost: \(target.authority)\r\nUser-Agent: HealthChecker\r\n"
                + "Connection: close\r\n\r\n")
        return finalStatus(on: connection)
            .map { status in
                guard (200..<400).contains(status) else { throw Refusal("answered with status \(status)") }
                return "status \(status)"
            }
            .always { connection.abort() }
    }

    /// Completes with the status of the answer, which may have others before it that only inform (RFC 9110, section 15.2).
    private func finalStatus(on connection: ByteStream) -> Future<Int> {
        var limits = HTTPLimits()
        // Nobody reads the body.
        limits.bodyBytes = .max
        return connection.readMessage(decodedBy: ResponseParser(limits: limits)).flatMap { part in
            guard case .head(let head)? = part else { throw Refusal("closed without an answer") }
            let isInterim = head.status < 200 && head.status != 101
            return isInterim ? finalStatus(on: connection) : loop.succeeded(head.status)
        }
        .mapError { error in
            error is HTTPError ? Refusal("answered with no HTTP: \(error)") : error
        }
    }
}
