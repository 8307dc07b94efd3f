import HTTP1
import TLSStreams
import WebSockets

extension Session {
    /// Goes on as a WebSocket, if the request asks for that.
    func upgrade(_ head: RequestHead) throws -> Future<Void> {
        switch WebSocketHandshake(head) {
        case nil:
            return respond(
                426, text: "open a WebSocket here, or POST a body",
                [("Upgrade", "websocket"), ("Connection", "Upgrade")])
        case .otherVersion?:
            return respond(
                426, text: "only version 13 is spoken here",
                [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")])
        case .refused(let reason)?:
            isLast = true
            return respond(400, text: reason)
        case .accept(let key)?:
            site.begin(status: 101)
            site.writer.removeAll()
            WebSocketHandshake.writeAcceptance(key, to: &site.writer)
            _ = send()
            throw End.webSocket
        }
    }

    /// Sends each message of a WebSocket back. Bytes that came behind the handshake are its first frames.
    func serveWebSocket() -> Future<Void> {
        connection.endsWhenIdle = false
        // Most WebSockets are idle most of the time: without the memory in which writes are gathered, they take less.
        connection.gathersWrites = false
        let (site, socket) = (
            site,
            WebSocket(connection, messageLimit: site.limits.bodyBytes) { [site] socket, message in
                site.counts.messages += 1
                return switch message {
                case .text(let text): socket.send(text)
                case .binary(let bytes): socket.send(bytes)
                }
            }
        )
        site.add(socket)
        return socket.serve().always { site.remove(socket) }
    }
}
