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

    /// Whether the peer seems not to wait for an answer. This is `true` if all of these conditions hold:
    ///
    /// - A reader waits for bytes, and no bytes are unread.
    /// - This side has written something since the peer last sent something, or the peer has sent nothing yet.
    /// - All written bytes have left, the write side is open, and no answer is under way.
    final var isIdle: Bool {
        exchange != .unanswered && !hasUnread && canWriteAtOnce && awaitsBytes
            && (details?.answersUnderWay ?? 0) == 0
    }

    /// Notes a write of this side. A write without bytes counts for nothing.
    @inline(__always)
    final func noteWrite(isEmpty: Bool) {
        guard !isEmpty else { return }
        if exchange == .unanswered { exchange = .answered }
        if awaitsBytes { notePush() }
    }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    private final func notePush() {
        if (details?.answersUnderWay ?? 0) == 0 { hasPushed = true }
    }

    /// Throws an error if a read or a write is pending, if bytes have not been read, or if the stream is not
    /// open.
    package final func checkAtRest() throws {
        if let refusal { throw refusal }
        try requireArgument(
            !hasUnread, "\(unreadBytes) bytes that have arrived have not been read; read them first")
        try requireArgument(
            reader == nil && outbound == nil && writeSide != .shuttingDown,
            "a read or a write of the connection is pending; wait for it first")
    }
}
