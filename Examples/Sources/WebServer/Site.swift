import Foundation
import HTTP1
import ServerSupport
import TLSStreams
import WebSockets

/// What all connections share.
///
/// Here and in ``Session``, what is used for each request is not checked for overlapping access at run time: that takes a
/// sixth of the time of a short answer.
final class Site {
    let loop: EventLoop
    let root: Directory?
    let limits: HTTPLimits
    let counts = Counts()
    /// Set when the server listens.
    var server: StreamServer!
    /// Where answers are written before they leave. One is enough: each is sent before the next one begins.
    @exclusivity(unchecked) var writer = MessageWriter()
    private(set) lazy var telemetry = Telemetry(of: self)
    @exclusivity(unchecked) private var dateLine: [UInt8] = []
    /// The first lines of most answers: the status 200, and the date.
    @exclusivity(unchecked) private var usualLines: [UInt8] = []

    init(root: Directory?, limits: HTTPLimits, on loop: EventLoop) {
        self.root = root
        self.limits = limits
        self.loop = loop
    }

    /// What `/bytes` sends.
    let filler = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
    /// All of them, for what each would need a timer and a `draining` of its own for: more than half a WebSocket takes.
    private var sockets: [ObjectIdentifier: WebSocket] = [:]
    private var sweeping: ScheduledTask<Void>?

    func add(_ socket: WebSocket) {
        sockets[ObjectIdentifier(socket)] = socket
        counts.webSockets = sockets.count
        guard sweeping == nil else { return }
        sweeping = loop.repeat(every: .seconds(1), keepsLoopAlive: false) { [unowned self] in
            for socket in sockets.values { socket.closeIfIdle() }
        }
    }

    func remove(_ socket: WebSocket) {
        sockets[ObjectIdentifier(socket)] = nil
        counts.webSockets = sockets.count
        if sockets.isEmpty { sweeping.take()?.cancel() }
    }

    /// Tells the clients of all WebSockets that the server goes away.
    func goAway() {
        for socket in Array(sockets.values) { socket.close(1001, "the server goes away") }
    }

    func serve(_ connection: ByteStream) -> Future<Void> {
        Session(on: connection, of: self).serve()
    }

    /// Begins an answer with the fields that all have.
    func begin(status: Int) {
        counts.answered(status)
        writer.removeAll()
        if dateLine.isEmpty { renewDate() }
        guard status != 200 else { return writer.lines(usualLines) }
        writer.begin(status: status)
        writer.lines(dateLine)
    }

    /// Makes the line of a date, which is true for a second. It is made when it is needed: an idle server does nothing.
    private func renewDate() {
        let now = loop.date.timeIntervalSince1970
        let second = now.rounded(.down)
        dateLine = Array("Date: \(HTTPDate(seconds: Int(second)))\r\n".utf8)
        usualLines = Array("HTTP/1.1 200 OK\r\n".utf8) + dateLine
        loop.schedule(after: .seconds(second + 1 - now)) { [unowned self] in dateLine = [] }.future
            .ignoreFailure()
    }
}

/// What the server has done. All of it is on one loop.
final class Counts {
    @exclusivity(unchecked) private(set) var requests = 0
    /// By the first digit of the status.
    @exclusivity(unchecked) private(set) var answers: InlineArray<6, Int> = .init(repeating: 0)
    var webSockets = 0
    var messages = 0

    func answered(_ status: Int) {
        requests += 1
        answers[status / 100] += 1
    }
}
