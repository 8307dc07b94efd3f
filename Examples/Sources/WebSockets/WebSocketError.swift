/// The reason why a WebSocket ends early: the code that the peer is told, and a text.
public struct WebSocketError: Error, Hashable, Sendable {
    /// The code of the close frame, such as 1002 for a breach of the protocol.
    public let code: Int
    public let reason: String

    static func breach(_ reason: String) -> WebSocketError { WebSocketError(code: 1002, reason: reason) }
    static func notUTF8(_ what: String) -> WebSocketError {
        WebSocketError(code: 1007, reason: "\(what) is no UTF-8")
    }
    static func tooLong(_ limit: Int) -> WebSocketError {
        WebSocketError(code: 1009, reason: "a message has more than \(limit) bytes")
    }
}

extension WebSocketError: CustomStringConvertible {
    public var description: String { "the WebSocket was closed with \(code): \(reason)" }
}
