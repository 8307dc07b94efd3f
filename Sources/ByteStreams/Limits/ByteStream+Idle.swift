internal import Futures

extension ByteStream {
    /// Whether this side has answered the peer, as far as the stream can know. The stream does not know where
    /// a message ends.
    enum Exchange {
        /// The peer has sent nothing yet.
        case fresh
        /// The peer has sent something, and this side has written nothing since.
        case unanswered
        /// This side has written something since the peer last sent something.
        case answered
    }

    /// Whether the peer waits for no answer. This is `true` if all of these conditions hold:
    ///
    /// - A reader waits for bytes, and no bytes are unread.
    /// - This side has written something since the peer last sent something, or the peer has sent nothing yet.
    /// - All written bytes have left, and the write side is open.
    package final var isIdle: Bool {
        exchange != .unanswered && !hasUnread && canWriteAtOnce && reader?.wantsBytes == true
    }

    final func noteIdle() {
        if let onIdle, isIdle { onIdle() }
    }

    /// Throws an error if a read or a write is pending, if bytes have not been read, or if the stream is not
    /// open.
    package final func checkAtRest() throws {
        guard phase == .open else { throw refusal ?? StreamError.connectionClosed }
        try requireArgument(
            !hasUnread, "\(unreadBytes) bytes that have arrived have not been read; read them first")
        try requireArgument(
            reader == nil && outbound == nil && writeSide != .shuttingDown,
            "a read or a write of the connection is pending; wait for it first")
    }
}
