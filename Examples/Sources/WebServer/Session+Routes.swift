import Foundation
import HTTP1
import TLSStreams
import WebSockets

extension Session {
    /// Answers a request, or begins to.
    func answer(_ head: RequestHead) throws -> Future<Void> {
        switch head.method {
        case .get, .head: break
        case .post where head.isFor("/echo"), .put where head.isFor("/echo"): return echo(head)
        case .options:
            return respondWithoutBody(204) { $0.lines("Allow: GET, HEAD, POST, PUT, OPTIONS\r\n") }
        case .post, .put, .delete, .patch:
            return respond(405, text: "only GET and HEAD are known here", [("Allow", "GET, HEAD")])
        case .trace, .connect, .other:
            return respond(501, text: "the method \(head.methodName) is not known here")
        }
        if head.isFor("/hello") {
            let greeting: StaticString = "Hello, world!\n"
            beginAnswer(200, "Content-Type: text/plain\r\n", bodyBytes: greeting.utf8CodeUnitCount)
            if !isHead { site.writer.raw(greeting) }
            return send()
        }
        if head.isFor("/") { return page() }
        if head.isFor("/events") { return events(head) }
        if head.isFor("/metrics") { return respond(200, text: site.telemetry.prometheus()) }
        if head.isFor("/echo") { return try upgrade(head) }
        if let size = head.path(after: "/bytes/") {
            guard let count = Int(size), (0...1 << 20).contains(count) else {
                return respond(404, text: "give a number from 0 to 1048576 behind /bytes/")
            }
            beginAnswer(200, "Content-Type: application/octet-stream\r\n", bodyBytes: count)
            let sent = send()
            // Large data is not copied: it leaves from where it is. An empty write would wait for the one before.
            return isHead || count == 0 ? sent : connection.write(site.filler[..<count])
        }
        if head.path(after: "/files/") != nil, let root = site.root { return file(head, below: root) }
        return respond(404, text: "there is nothing at this path")
    }

    // MARK: Answers

    /// Answers with a body that is at hand. A `HEAD` gets its fields alone.
    func respond(
        _ status: Int, _ typeLine: StaticString, _ body: RawSpan,
        _ fields: [(StaticString, String)] = []
    ) -> Future<Void> {
        beginAnswer(status, typeLine, fields, bodyBytes: body.byteCount)
        if !isHead { site.writer.raw(body) }
        return send()
    }

    private func beginAnswer(
        _ status: Int, _ typeLine: StaticString, _ fields: [(StaticString, String)] = [], bodyBytes: Int
    ) {
        site.begin(status: status)
        site.writer.lines(typeLine)
        for (name, value) in fields { site.writer.field(name, value) }
        writeConnectionLine()
        site.writer.endHead(bodyBytes: bodyBytes)
    }

    @discardableResult
    func respond(
        _ status: Int, text: String, _ fields: [(StaticString, String)] = []
    ) -> Future<Void> {
        respond(
            status, "Content-Type: text/plain; charset=utf-8\r\n", (text + "\n").utf8Span.span.bytes,
            fields)
    }

    /// Answers with a status that has no body.
    func respondWithoutBody(
        _ status: Int, _ fields: (inout MessageWriter) -> Void
    ) -> Future<Void> {
        site.begin(status: status)
        fields(&site.writer)
        writeConnectionLine()
        site.writer.endHead()
        return send()
    }

    /// Sends what was written, with all else that is written in this turn. Completes later if the client does not take it:
    /// then it is not served on.
    @discardableResult
    func send() -> Future<Void> { site.writer.send(to: connection) }

    private func page() -> Future<Void> {
        let page = PackageResources.page_html
        return respond(
            200, "Content-Type: text/html; charset=utf-8\r\n", page.span.bytes,
            [
                ("Cache-Control", "no-cache"),
                ("Content-Security-Policy", "default-src 'self' 'unsafe-inline'"),
            ])
    }
}
