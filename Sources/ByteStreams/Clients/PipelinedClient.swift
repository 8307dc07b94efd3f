public import FoundationEssentials
public import Futures

/// A client that stays connected to a server, and matches answers to requests by their order.
///
/// Many protocols answer requests in the order in which they came: Redis, SMTP, HTTP/1.1. The client sends a request without
/// waiting for the answers to earlier ones. A ``StreamDecoder`` finds the answers. When the connection ends, the client makes
/// a new one after a wait, until you close it.
///
/// ```swift
/// let client = try PipelinedClient(decodedBy: LengthPrefixDecoder(.uint16), on: loop) {
///     TCPConnection.connect(host: "127.0.0.1", port: 7007, on: loop)
/// }
/// let answer = client.send(Data([0, 1, 42]), mayRepeat: true)
/// ```
///
/// A request that was under way when the connection ended fails with ``PipelineError/answerLost(cause:)``: nobody knows
/// whether the server has carried it out. If you said that it may be repeated, the client sends it again instead, before all
/// requests that wait. A request that has failed with another error was not written.
///
/// The client lives, and keeps the loop running, until it is closed or the loop is shut down, even if there are no
/// references to it. Use it only on its loop's thread.
public final class PipelinedClient<Message> {
    public var loop: EventLoop { core }
    public let limits: PipelineLimits
    let core: LoopCore
    let backoff: Backoff
    /// Begins to connect, and calls the closure with the outcome. Returns a closure that cancels.
    let open: (@escaping (Result<ByteStream, any Error>) -> Void) throws -> () -> Void
    /// Begins to read from a connection.
    let start: (PipelinedConnection<Message>) -> Void
    let greeting: ((PipelinedConnection<Message>) throws -> Future<Void>)?
    private let push: ((Message) -> Bool)?

    /// The state of the client's connection now.
    public internal(set) var state = PipelineState.connecting
    /// The error that ended the last connection or prevented it. `nil` while there is a connection.
    public internal(set) var lastError: (any Error)?
    public internal(set) var isDraining = false
    /// The number of failures since the last connection that was of use.
    var failures = 0
    var connection: PipelinedConnection<Message>?
    /// Cancels the connect, the greeting or the wait in progress.
    var cancelStep: (() -> Void)?
    /// The time at which the connection was greeted, and whether it has been of use since.
    var greetedAt: LoopInstant?
    var wasUseful = false
    private var awaitsRoom = false
    var counters = PipelineStatistics()
    /// The requests that wait to be written, in order.
    var waiting = Futures.Line<PipelinedRequest<Message>>()
    var waitingBytes = 0
    let closedPromise: Promise<Void>

    /// Creates a client, which begins to connect.
    ///
    /// For each connection, the client calls `connect`, which returns for example a TCP or a TLS connection, and
    /// evaluates `decoder`. Then it calls `greeting`, if there is one, to send what comes first, such as a password.
    /// Requests wait until the future of `greeting` completes. If `connect` or `greeting` fails, or the connection ends
    /// later, the client tries again, after the wait that `backoff` gives for the number of failures in a row.
    ///
    /// `push` gets each message first. It returns `true` for a message that answers no request. Every other message
    /// counts as an answer, and ends the connection if no request is under way.
    ///
    /// Throws `FutureError.invalidArgument` if `limits` or `backoff` are out of range.
    public init<Decoder: StreamDecoder, Stream: ByteStream>(
        decodedBy decoder: @autoclosure @escaping () -> Decoder, limits: PipelineLimits = PipelineLimits(),
        backoff: Backoff = .exponential, on loop: EventLoop,
        greeting: ((_ connection: PipelinedConnection<Message>) throws -> Future<Void>)? = nil,
        push: ((_ message: Message) -> Bool)? = nil, connect: @escaping () throws -> Future<Stream>
    ) throws where Decoder.Message == Message {
        try limits.validate()
        if let complaint = backoff.complaint { throw FutureError.invalidArgument(complaint) }
        let core = loop.core
        core.checkThread()
        self.limits = limits
        self.backoff = backoff
        self.core = core
        self.greeting = greeting
        self.push = push
        open = { opened in
            let connecting = try connect().given(to: core)
            // A step of its own could be cancelled after a connect that has succeeded: nobody would own the connection.
            connecting.whenComplete { result in opened(result.map { $0 }) }
            return { connecting.cancel(.evenIfOthersWaiting) }
        }
        start = { $0.start(decodedBy: decoder()) }
        closedPromise = core.makeSharedPromise()
        tryToConnect()
    }

    /// Sends `request`, and completes with its answer.
    ///
    /// The request waits while there is no connection, while ``PipelineLimits/maxUnderWay`` requests are under way, and
    /// while the server does not take what was written. Requests are written in the order of the calls. All requests of
    /// a turn leave together, as with ``ByteStream/gathersWrites``.
    ///
    /// If you cancel the future while the request waits, the request is not sent. If you cancel it later, the answer is
    /// dropped when it comes, and the other requests get their own answers.
    ///
    /// Fails with ``PipelineError/answerLost(cause:)`` if the connection ends before the answer comes. If `mayRepeat`
    /// is `true`, the request is sent again instead, ``PipelineLimits/maxAttempts`` times in all. Fails with
    /// ``PipelineError/queueFull(requests:bytes:)``, ``PipelineError/notSent(after:cause:)``, and after ``close()`` or
    /// ``drain(within:)`` with `FutureError.closed`: in these cases, the request has not been sent.
    public func send(_ request: Data, mayRepeat: Bool = false) -> Future<Message> {
        core.checkThread()
        guard state != .closed, !isDraining else { return core.failed(FutureError.closed("client")) }
        guard !request.isEmpty else {
            return core.failed(
                FutureError.invalidArgument("a request without bytes gets no answer; give one or more"))
        }
        let entry = PipelinedRequest<Message>(request, mayRepeat: mayRepeat)
        if waiting.isEmpty, let connection = readyConnection {
            let future = entry.begin(on: core)
            connection.write(entry)
            return future
        }
        guard waiting.count < limits.maxWaiting, request.count <= limits.maxWaitingBytes - waitingBytes
        else {
            return core.failed(PipelineError.queueFull(requests: waiting.count, bytes: waitingBytes))
        }
        let future = entry.begin(on: core)
        append(entry)
        awaitRoom()
        return future
    }

    public var statistics: PipelineStatistics {
        core.checkThread()
        var statistics = counters
        statistics.underWay = connection?.count ?? 0
        statistics.waiting = waiting.count
        statistics.waitingBytes = waitingBytes
        return statistics
    }

    /// The connection, if a request can be written to it now.
    private var readyConnection: PipelinedConnection<Message>? {
        guard state == .connected, let connection, connection.count < limits.maxUnderWay else { return nil }
        return connection.stream.bufferedBytes < connection.stream.limits.writeHighWaterMark
            ? connection : nil
    }

    /// Writes as many of the requests that wait as can be written.
    func sendWaiting() {
        while let connection = readyConnection, let request = takeFirst() {
            connection.write(request)
        }
        awaitRoom()
    }

    /// If requests wait until the server takes what was written, sends them then.
    private func awaitRoom() {
        guard !waiting.isEmpty, !awaitsRoom, state == .connected, let connection,
            connection.count < limits.maxUnderWay
        else { return }
        awaitsRoom = true
        connection.stream.writable.whenComplete { [self] _ in
            awaitsRoom = false
            if connection === self.connection { sendWaiting() }
        }
    }

    /// Called with each message. Returns `true` if the message answers no request.
    func received(_ message: Message) -> Bool {
        guard let push, push(message) else { return false }
        counters.pushes += 1
        wasUseful = true
        return true
    }

    /// Called after each answer.
    func answered() {
        counters.answers += 1
        if state == .connected { wasUseful = true }
        if !waiting.isEmpty { sendWaiting() }
        endIfDrained()
    }

    /// Fails the requests that were under way, or puts them back to be written again.
    func settle(_ requests: [PipelinedRequest<Message>], _ error: any Error) {
        var repeats: [PipelinedRequest<Message>] = []
        for request in requests where !request.isOver {
            if request.mayRepeat, request.attempts < limits.maxAttempts, state != .closed {
                repeats.append(request)
            } else {
                fail(request, error)
            }
        }
        counters.repeats += repeats.count
        prepend(repeats)
    }

    func fail(_ request: PipelinedRequest<Message>, _ error: any Error) {
        guard !request.isOver else { return }
        if request.fail(error) { counters.lost += 1 } else { counters.unsent += 1 }
    }

    func endIfDrained() {
        if isDraining, waiting.isEmpty, connection?.count ?? 0 == 0 { close() }
    }
}

extension PipelinedClient: CustomStringConvertible {
    /// The client in one line, such as `client (connected to TCPConnection 3 (…), 2 requests under way, 0 waiting)`.
    public var description: String {
        let peer = state == .connected ? connection.map { " to \($0.stream.name)" } ?? "" : ""
        return
            "client (\(state.rawValue)\(peer), \(statistics.underWay) requests under way, \(waiting.count) waiting)"
    }
}

@available(
    *, unavailable, message: "A client belongs to its loop's thread; go there with loop.execute { … }."
)
extension PipelinedClient: Sendable {}
