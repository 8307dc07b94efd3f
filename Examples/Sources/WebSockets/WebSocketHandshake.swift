internal import FoundationEssentials
public import HTTP1

/// The answer to a request that wants to go on as a WebSocket (RFC 6455, section 4.2).
public enum WebSocketHandshake: Hashable, Sendable {
    /// To be accepted with status 101 and this value of `Sec-WebSocket-Accept`.
    case accept(String)
    /// A version that is not spoken here. To be answered with status 426 and `Sec-WebSocket-Version: 13`.
    case otherVersion
    /// To be answered with status 400 and this text.
    case refused(String)

    /// Looks at a request. `nil` if it wants no WebSocket.
    public init?(_ head: RequestHead) {
        guard head.wantsUpgrade, head.fields.contains("websocket", in: "upgrade") else { return nil }
        guard head.method == .get, head.body == .none else {
            self = .refused("a WebSocket begins with a GET that has no body")
            return
        }
        guard head.fields["sec-websocket-version"] == "13" else {
            self = .otherVersion
            return
        }
        guard let key = head.fields["sec-websocket-key"], Data(base64Encoded: key)?.count == 16 else {
            self = .refused("Sec-WebSocket-Key is not the Base64 of 16 bytes")
            return
        }
        self = .accept(Self.accept(for: key))
    }

    /// Returns the value that proves that the server has understood `key`.
    static func accept(for key: String) -> String {
        Data(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }

    /// Writes the response that accepts, up to the end of its head.
    public static func writeAcceptance(_ key: String, to writer: inout MessageWriter) {
        writer.begin(status: 101)
        writer.lines("Upgrade: websocket\r\nConnection: Upgrade\r\n")
        writer.field("Sec-WebSocket-Accept", key)
        writer.endHead()
    }
}
