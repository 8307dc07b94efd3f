import HTTP1
import TLSStreams

/// One connection: reads its requests one after another, and answers them in that order.
final class Session {
    let connection: ByteStream
    let site: Site
    var loop: EventLoop { site.loop }
    /// Takes the body that is coming.
    @exclusivity(unchecked) private var body: (any IncomingBody)?
    private var bodyBegan: LoopInstant
    private var bodyBytes = 0
    /// Whether a part of an answer has left, so that no other status can be sent.
    @exclusivity(unchecked) var hasBegun = false
    /// Whether the connection ends behind the answer under way.
    @exclusivity(unchecked) var isLast = false
    /// Whether the request is a `HEAD`: then the answer has no body, whatever its status.
    @exclusivity(unchecked) var isHead = false
    /// Whether the client has asked to keep the connection, and has to hear that it is kept: one of HTTP/1.0.
    @exclusivity(unchecked) private var announcesKeeping = false

    /// Thrown to stop reading requests.
    enum End: Error {
        case close
        case webSocket
        case slowBody
    }

    init(on connection: ByteStream, of site: Site) {
        self.connection = connection
        self.site = site
        bodyBegan = site.loop.now
    }

    /// Serves until the client or an answer ends the connection. Pipelined requests are answered without a pause: all
    /// answers of a turn leave in one write.
    func serve() -> Future<Void> {
        connection.gathersWrites = true
        return connection.forEachMessage(decodedBy: RequestParser(limits: site.limits)) {
            [self] part, bytes in
            try handle(part, bytes)
        }
        .flatMapError { [self] error in try end(error) }
    }

    private func handle(_ part: RequestParser.Part, _ bytes: RawSpan) throws -> Future<Void> {
        switch part {
        case .head(let head):
            // A client that waits to hear whether its body is wanted hears it from `receive`, or from the end.
            isLast = isLastRequest(head) || head.expectsContinue
            announcesKeeping = head.version == .http10
            isHead = head.method == .head
            let answered = try answer(head)
            guard head.body != .none, body != nil || !head.expectsContinue else {
                return try finish(answered)
            }
            if body == nil { body = UnwantedBody(on: loop) }
            (bodyBegan, bodyBytes) = (loop.now, 0)
            // The client's time begins when it is read on.
            return answered.isCompleted ? answered : answered.map { [self] in bodyBegan = loop.now }
        case .body(let range): return try take(bytes.extracting(range))
        case .end(let range, let trailers):
            let taken = try take(bytes.extracting(range))
            guard let body = body.take() else { return taken }
            return try finish(taken.flatMap { body.end(trailers) })
        }
    }

    private func isLastRequest(_ head: RequestHead) -> Bool { !head.keepsAlive || connection.isDraining }

    /// Passes a part of the body on, unless the client is slower than it may be.
    private func take(_ bytes: RawSpan) throws -> Future<Void> {
        bodyBytes += bytes.byteCount
        let limits = connection.limits
        if let time = limits.framingTimeout,
            bodyBegan.duration(to: loop.now) > time + .seconds(bodyBytes / limits.framingRate)
        {
            throw End.slowBody
        }
        return body?.take(bytes) ?? loop.succeeded()
    }

    /// Reads on when `answered` has completed, unless the answer was the last one.
    private func finish(_ answered: Future<Void>) throws -> Future<Void> {
        // The answer to most requests has been written by now.
        if !isLast, !hasBegun, answered.isCompleted { return answered }
        return answered.map { [self] in
            hasBegun = false
            guard !isLast else { throw End.close }
        }
    }

    /// Answers a request that cannot be understood, and ends the connection: nobody knows where the next one would begin.
    private func end(_ error: any Error) throws -> Future<Void> {
        switch error {
        case End.close: return loop.succeeded()
        case End.webSocket: return serveWebSocket()
        // The request was answered already.
        case is RefusedRequest where body is UnwantedBody, End.slowBody where body is UnwantedBody: break
        case let refused as RefusedRequest where !hasBegun:
            isHead = refused.isHead
            refuse(refused.reason.status, "\(refused.reason)")
        case End.slowBody where !hasBegun: refuse(408, "the body came too slowly")
        // Only chunks can break behind the head, and what answers them in part has chunks, too: without the last one.
        case is RefusedRequest: break
        default: throw error
        }
        return loop.succeeded()
    }

    private func refuse(_ status: Int, _ reason: String) {
        isLast = true
        respond(status, text: reason)
    }

    /// Writes the field of an answer that says whether the connection ends behind it, if there is something to say.
    func writeConnectionLine() {
        if isLast {
            site.writer.lines("Connection: close\r\n")
        } else if announcesKeeping {
            site.writer.lines("Connection: keep-alive\r\n")
        }
    }

    /// Has the body of the request passed to `body`, for which the client may be waiting to be asked.
    func receive(_ head: RequestHead, into body: any IncomingBody) {
        self.body = body
        guard head.expectsContinue else { return }
        isLast = isLastRequest(head)
        connection.write("HTTP/1.1 100 Continue\r\n\r\n")
    }
}

/// Takes the body of a request.
protocol IncomingBody: AnyObject {
    /// Takes the next bytes. No more come before the future has completed.
    func take(_ bytes: RawSpan) -> Future<Void>
    func end(_ trailers: Fields) -> Future<Void>
}

/// A body that nobody has asked for. It was answered already.
private final class UnwantedBody: IncomingBody {
    private let loop: EventLoop

    init(on loop: EventLoop) { self.loop = loop }
    func take(_ bytes: RawSpan) -> Future<Void> { loop.succeeded() }
    func end(_ trailers: Fields) -> Future<Void> { loop.succeeded() }
}
