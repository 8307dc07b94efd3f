internal import ByteStreams
internal import Futures

extension SocketConnection {
    /// The header that the proxy sent first. `nil` unless the server has a ``SocketServer/proxyProtocol``.
    public final var proxyHeader: ProxyHeader? { (introduction as? ProxyRecord)?.header }

    /// The address of the other end of the socket. If the server has a ``SocketServer/proxyProtocol``, this is the
    /// proxy, while ``peerAddress`` is the client.
    public final var directPeerAddress: SocketAddress? { socket.peerAddress }

    /// The number of bytes of the header.
    final var introductionSize: Int { (introduction as? ProxyRecord)?.size ?? 0 }

    /// Reads the header. Completes with `false` if the peer has finished without a byte.
    final func readProxyHeader(_ rules: ProxyProtocol) -> Future<Bool> {
        guard rules.isTrusted(directPeerAddress) else {
            return core.failed(ProxyProtocolError.untrusted(directPeerAddress))
        }
        return readMessage(decodedBy: ProxyHeaderDecoder(limit: rules.maximumSize)).timeout(
            after: rules.timeout
        )
        .map { [self] header in
            guard let header else { return false }
            introduction = ProxyRecord(header, size: takenBytes)
            watchFirstMessage()
            return true
        }
        .mapError { error in
            switch error {
            case FutureError.timedOut(let limit): ProxyProtocolError.timedOut(after: limit)
            case StreamError.unexpectedEnd(let received):
                ProxyProtocolError.incomplete(received: received.count)
            default: error
            }
        }
    }
}
