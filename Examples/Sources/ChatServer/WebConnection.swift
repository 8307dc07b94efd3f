import Chat
import HTTP1
import TLSStreams
import WebSockets

extension Hall {
    /// Serves a connection of a browser: the page, and the WebSocket that it or a page of `origins` opens. Completes when it
    /// ends.
    func serveWeb(_ connection: any ClientConnection, from address: SocketAddress?, origins: [String])
        -> Future<Void>
    {
        WebConnection(connection, self, address, origins).serve()
    }
}

/// A connection on which requests come, until one of them opens a WebSocket.
private final class WebConnection {
    private let connection: any ClientConnection
    private let hall: Hall
    private let address: SocketAddress?
    private let origins: [String]

    /// Thrown to stop reading requests.
    private enum End: Error {
        case close, webSocket
    }

    init(_ connection: any ClientConnection, _ hall: Hall, _ address: SocketAddress?, _ origins: [String]) {
        (self.connection, self.hall, self.address, self.origins) = (connection, hall, address, origins)
    }

    func serve() -> Future<Void> {
        connection.gathersWrites = true
        return connection.forEachMessage(decodedBy: RequestParser()) { [self] part, _ in
            guard case .head(let head) = part else { throw End.close }
            return try answer(head)
        }
        .flatMapError { [self] error in
            switch error {
            case End.close: return hall.loop.succeeded()
            case End.webSocket: return serveSocket()
            case let refused as RefusedRequest:
                _ = respond(
                    refused.reason.status, "\(refused.reason)\n", isHead: refused.isHead, isLast: true)
            default: throw error
            }
            return hall.loop.succeeded()
        }
    }

    private func answer(_ head: RequestHead) throws -> Future<Void> {
        // A body is not read, so nothing behind it can be understood.
        let isLast = !head.keepsAlive || head.body != .none
        let answered: Future<Void>
        switch (head.method, head.path) {
        case (.get, "/chat"): answered = try upgrade(head)
        case (.get, "/"), (.head, "/"):
            answered = respond(
                200, PackageResources.page_html, "text/html; charset=utf-8", isHead: head.method == .head,
                isLast: isLast)
        case (.get, "/health"), (.head, "/health"):
            answered = respond(200, "ok\n", isHead: head.method == .head, isLast: isLast)
        case (.get, _), (.head, _):
            answered = respond(
                404, "there is nothing at this path; the chat is at /\n", isHead: head.method == .head,
                isLast: isLast)
        default: answered = respond(405, "only GET and HEAD are known here\n", isLast: isLast)
        }
        return isLast ? answered.map { throw End.close } : answered
    }

    private func respond(_ status: Int, _ text: String, isHead: Bool = false, isLast: Bool) -> Future<Void> {
        respond(status, Array(text.utf8), "text/plain; charset=utf-8", isHead: isHead, isLast: isLast)
    }

    private func respond(
        _ status: Int, _ body: [UInt8], _ type: String, isHead: Bool = false, isLast: Bool
    ) -> Future<Void> {
        var writer = MessageWriter()
        writer.begin(status: status)
        writer.field("Content-Type", type)
        writer.lines("Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n")
        // The page opens a WebSocket to where it comes from, and has its script in itself.
        writer.lines("Content-Security-Policy: default-src 'self' 'unsafe-inline'\r\n")
        if status == 405 { writer.lines("Allow: GET, HEAD\r\n") }
        if status == 426 {
            writer.lines("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n")
        }
        if isLast { writer.lines("Connection: close\r\n") }
        writer.endHead(bodyBytes: body.count)
        if !isHead { writer.raw(body.span.bytes) }
        return writer.send(to: connection)
    }

    // MARK: The WebSocket

    private func upgrade(_ head: RequestHead) throws -> Future<Void> {
        switch WebSocketHandshake(head) {
        case nil: return respond(426, "open a WebSocket here\n", isLast: false)
        case .otherVersion?: return respond(426, "only version 13 is spoken here\n", isLast: false)
        case .refused(let reason)?:
            return respond(400, "\(reason)\n", isLast: true).map { throw End.close }
        case .accept? where !WebSocketHandshake.isWanted(head, of: origins):
            return respond(403, "pages of other sites may not open a WebSocket here\n", isLast: false)
        case .accept(let key)?:
            var writer = MessageWriter()
            WebSocketHandshake.writeAcceptance(key, to: &writer)
            writer.send(to: connection)
            throw End.webSocket
        }
    }

    /// Makes a member of the WebSocket: each message is a line.
    private func serveSocket() -> Future<Void> {
        var member: Member!
        let socket = WebSocket(connection, messageLimit: Member.longestLine) { [hall] socket, message in
            guard case .text(let line) = message else {
                socket.close(1003, "only text is understood here")
                throw Member.Ended()
            }
            return hall.loop.succeeded().flatMap { try member.take(line) }.tapError { error in
                if error is Member.Ended { socket.close() }
            }
        }
        let output = Member.Output {
            socket.send($0)
        } end: {
            socket.close(1001, "the server ends")
        }
        member = Member(in: hall, connection, output, from: address?.description)
        return socket.serve().recover { error in if !(error is Member.Ended) { throw error } }
            .always { member.leave() }
    }
}
