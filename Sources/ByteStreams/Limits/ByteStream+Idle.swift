internal import Futures

extension ByteStream {
    /// What is known of the messages of a peer, though not where they end.
    enum Exchange {
        /// It has sent nothing yet.
        case fresh
        /// It has sent something, since which nothing has been written.
        case unanswered
        case answered
    }

    /// Whether the peer waits for nothing: whoever reads waits for its next bytes, what it has sent was taken, and
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
