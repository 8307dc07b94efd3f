internal import Futures

extension ByteStream {
    /// The state of the exchange of messages with a peer, as far as it is known: not where messages end.
    enum Exchange {
        /// The peer has sent nothing yet.
        case fresh
        /// The peer has sent something, and nothing has been written since.
        case unanswered
        case answered
    }

    /// Whether the peer waits for nothing. The reader waits for its next bytes, what it has sent was taken, and
    /// something was written since, all of which has left.
    package final var isIdle: Bool {
        guard phase == .open, exchange != .unanswered, !hasUnread, outbound == nil else { return false }
        guard case .open = writeSide else { return false }
        return reader?.wantsBytes == true
    }

    final func noteIdle() {
        if let onIdle, isIdle { onIdle() }
    }

    /// Throws if something is pending, or has arrived and was not read.
    package final func checkAtRest() throws {
        guard phase == .open else { throw refusal ?? StreamError.connectionClosed }
        guard !hasUnread else {
            throw FutureError.invalidArgument(
                "\(unreadBytes) bytes that have arrived have not been read; read them first")
        }
        guard reader == nil, outbound == nil, !writeSide.isShuttingDown else {
            throw FutureError.invalidArgument(
                "a read or a write of the connection is pending; wait for it first")
        }
    }
}
