internal import ByteStreams

/// An error of a connection that should begin with a ``ProxyHeader``.
public enum ProxyProtocolError: Error, Hashable {
    /// The connection does not begin with a header. `byte` is the number of the first wrong byte, counted from 0.
    case missing(byte: Int)
    /// The header breaks the rules of the protocol. The text says which one.
    case malformed(ProxyHeader.Version, String)
    /// The header has more bytes than `limit`.
    case tooLong(limit: Int)
    /// The checksum in the header is not that of its bytes.
    case wrongChecksum
    /// The peer finished sending after `received` bytes of the header.
    case incomplete(received: Int)
    /// The header was not complete within this time.
    case timedOut(after: Duration)
    /// The connection comes from a peer that ``ProxyProtocol/isTrusted`` does not trust.
    case untrusted(SocketAddress?)
}

extension ProxyProtocolError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let byte):
            "the connection does not begin with a PROXY header: its byte \(byte) is wrong; let the proxy send one, for "
                + "example by send-proxy-v2, or leave proxyProtocol unset"
        case .malformed(let version, let text):
            "the PROXY header of version \(version.rawValue) is wrong: \(text)"
        case .tooLong(let limit):
            "the PROXY header has more than \(limit) bytes; if it is what the proxy should send, raise "
                + "ProxyProtocol.maximumSize"
        case .wrongChecksum: "the PROXY header has arrived damaged: its checksum is wrong"
        case .incomplete(let received):
            "the peer finished sending in the middle of its PROXY header, after \(received) bytes"
        case .timedOut(let limit):
            "the PROXY header was not complete after \(limit); let the proxy send it at once"
        case .untrusted(let peer):
            "\(peer.map { "\($0)" } ?? "a peer without an address") is not trusted to send a PROXY header; connect by the "
                + "proxy, or trust it in ProxyProtocol.isTrusted"
        }
    }
}

extension ProxyProtocolError: Disconnecting {
    package var meansDisconnection: Bool {
        if case .incomplete = self { true } else { false }
    }
}
