import HTTP1
import TLSStreams

extension Session {
    /// Sends the body of a request back, chunk by chunk, while it comes.
    func echo(_ head: RequestHead) -> Future<Void> {
        let body = EchoBody(of: self, chunked: head.version == .http11)
        // A client of HTTP/1.0 knows no chunks: the end of the connection is that of the body.
        if head.version == .http10 { isLast = true }
        guard head.body != .none else { return body.end(Fields()) }
        receive(head, into: body)
        return loop.succeeded()
    }
}

private final class EchoBody: IncomingBody {
    private let session: Session
    private let isChunked: Bool

    init(of session: Session, chunked: Bool) {
        self.session = session
        isChunked = chunked
    }

    func take(_ bytes: RawSpan) -> Future<Void> {
        begin()
        if isChunked { session.site.writer.chunk(bytes) } else { session.site.writer.raw(bytes) }
        return session.send()
    }

    func end(_ trailers: Fields) -> Future<Void> {
        begin()
        session.connection.endsWhenIdle = true
        if isChunked { session.site.writer.endChunks(trailers: trailers) }
        return session.send()
    }

    /// Begins the answer with the first bytes of the body: before them, a chunk that is broken gets an answer of its own.
    private func begin() {
        guard !session.hasBegun else { return session.site.writer.removeAll() }
        // A part of the answer leaves before the request is complete, so a drain has to wait for the rest.
        session.connection.endsWhenIdle = false
        session.hasBegun = true
        session.site.begin(status: 200)
        session.site.writer.lines("Content-Type: application/octet-stream\r\n")
        session.writeConnectionLine()
        if isChunked { session.site.writer.endHeadChunked() } else { session.site.writer.endHead() }
    }
}
