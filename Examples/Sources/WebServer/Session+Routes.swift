import HTTP1
import TLSStreams
import WebSockets

extension Session {
    /// Answers a request, or begins to.
    func answer(_ head: RequestHead) throws -> Future<Void> {
        let path = head.path
        switch head.method {
        case .get, .head: break
        case .post where path == "/echo", .put where path == "/echo": return echo(head)
        case .options: return respondWithoutBody(204, head) { $0.lines("Allow: GET, HEAD, POST, PUT, OPTIONS\r\n") }
        case .post, .put, .delete, .patch:
            return respond(405, head, text: "only GET and HEAD are known here", [("Allow", "GET, HEAD")])
        case .trace, .connect, .other:
            return respond(501, head, text: "the method \(head.method) is not known here")
        }
        switch path {
        case "/hello": return respond(200, head, "text/plain", "Hello, world!\n".utf8Span.span.bytes)
        case "/": return page(head)
        case "/events": return head.method == .head ? respond(200, head, text: "") : try events(head)
        case "/metrics": return respond(200, head, text: site.telemetry.prometheus())
        case "/echo": return try upgrade(head)
        default: break
        }
        if path.hasPrefix("/bytes/") {
            guard let count = Int(path.dropFirst(7)), (0...1 << 20).contains(count) else {
                return respond(404, head, text: "give a number from 0 to 1048576 behind /bytes/")
            }
            return respond(200, head, "application/octet-stream", site.filler.span.bytes.extracting(first: count))
        }
        if path.hasPrefix("/files/"), let root = site.root { return file(head, below: root) }
        return respond(404, head, text: "there is nothing at this path")
    }

    // MARK: Answers

    /// Answers with a body that is at hand. A `HEAD` gets its fields alone.
    @discardableResult
    func respond(
        _ status: Int, _ head: RequestHead? = nil, _ type: StaticString, _ body: RawSpan,
        _ fields: [(StaticString, String)] = []
    ) -> Future<Void> {
        site.begin(status: status)
        site.writer.lines("Content-Type: ")
        site.writer.lines(type)
        site.writer.lines("\r\n")
        for (name, value) in fields { site.writer.field(name, value) }
        if isLast { site.writer.lines("Connection: close\r\n") }
        site.writer.field("Content-Length", body.byteCount)
        site.writer.endHead()
        if head?.method != .head { site.writer.raw(body) }
        return send()
    }

    @discardableResult
    func respond(
        _ status: Int, _ head: RequestHead? = nil, text: String, _ fields: [(StaticString, String)] = []
    ) -> Future<Void> {
        respond(status, head, "text/plain; charset=utf-8", (text + "\n").utf8Span.span.bytes, fields)
    }

    /// Answers with a status that has no body.
    func respondWithoutBody(
        _ status: Int, _ head: RequestHead, _ fields: (inout MessageWriter) -> Void
    ) -> Future<Void> {
        site.begin(status: status)
        fields(&site.writer)
        if isLast { site.writer.lines("Connection: close\r\n") }
        site.writer.endHead()
        return send()
    }

    /// Sends what was written. Completes when there is room for more: a client that does not read is not served on.
    func send() -> Future<Void> {
        connection.write(site.writer.bytes)
        return connection.writable
    }

    private func page(_ head: RequestHead) -> Future<Void> {
        respond(
            200, head, "text/html; charset=utf-8", PackageResources.page_html.span.bytes,
            [("Cache-Control", "no-cache"), ("Content-Security-Policy", "default-src 'self' 'unsafe-inline'")])
    }
}
