import HTTP1
import TLSStreams

extension Session {
    /// Answers with server-sent events, until the client leaves or the server drains.
    func events(_ head: RequestHead) -> Future<Void> {
        guard head.version == .http11 else {
            return respond(505, text: "events need chunks, so HTTP/1.1")
        }
        // The client sends nothing more, and hears from the server all the time: that is no idle connection.
        hasBegun = true
        isLast = true
        site.begin(status: 200)
        site.writer.lines(
            "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n")
        site.writer.endHeadChunked()
        let sent = send()
        if isHead { return sent }
        return site.telemetry.follow(connection).flatMap { [self] in
            site.writer.removeAll()
            site.writer.endChunks()
            return send()
        }
    }
}
