public import FoundationEssentials

/// An error that the stream itself finds. The errors of the operating system have a different type, such as
/// `SystemError`.
public enum StreamError: Error, Hashable {
    /// This side has closed or aborted the connection, or has begun to close it.
    case connectionClosed
    /// A read was called while another read was pending. Only one can be pending at a time. `forEachChunk`,
    /// `forEachSpan` and `pipe` also count as reads.
    case readPending
    /// The peer finished sending in the middle of a message, for example after 3 of 10 bytes. `received`
    /// holds the bytes of the message that have come, 3 bytes in this example, and is never empty. No other
    /// read returns these bytes.
    case unexpectedEnd(received: Data)
    /// The message has more bytes than the `limit` of the read. All bytes that have come stay readable.
    case limitExceeded(limit: Int)
    /// A write was called after ``ByteStream/shutdownWrite()``.
    case writeSideShutDown
    /// A write was called after a draining server had half-closed the connection, because the handler waited for nothing but
    /// the next message: see ``ByteStream/endsWhenIdle``. The peer does not get these bytes.
    case drained
    /// Nothing can be read from this stream: it is the writing end of a pipe, or was opened for writing only.
    case notReadable
    /// Nothing can be written to this stream: it is the reading end of a pipe, or was opened for reading only.
    case notWritable
    /// The peer takes the bytes too slowly: when a write was called, `queued` bytes were already waiting to be
    /// sent. That is more than `limit`, the value of ``StreamLimits/writeCap``. The connection has been aborted.
    case backpressureExceeded(queued: Int, limit: Int)
    /// A time limit of ``StreamLimits`` has passed, and this side has ended the connection. The first two values
    /// name the time limit and give its duration. `unread` is the number of bytes that had come and had not been
    /// read. `unsent` is the number of bytes that had been written and had not been sent.
    case timedOut(_ limit: StreamTimeLimit, after: Duration, unread: Int, unsent: Int)
    /// The system had not accepted all queued bytes at the deadline of ``ByteStream/close(within:)``: `unsent`
    /// bytes were left. `after` is the time that was given. The connection has been aborted.
    case flushTimedOut(after: Duration, unsent: Int)
    /// The system had accepted all bytes, but the peer had not acknowledged all of them when the connection
    /// was closed. `bytes` is the number of unacknowledged bytes, which are the last ones. The system may
    /// continue to send these bytes. Nothing reports whether they arrive.
    case unacknowledged(bytes: Int)
    /// The connection lingered (see ``ByteStream/close(within:)``), and was reset because too many connections
    /// lingered. `limit` connections may linger at a time (``StreamLimits/maxLingering``). When one more began to
    /// linger, this connection had lingered longest.
    case crowdedOut(limit: Int)
    /// The connection was reset because its server needed the place or the descriptor for another connection, and the
    /// peer had not yet sent everything that it has to send first. See `AcceptLimits.peersSpeakFirst`.
    case madeRoom
    /// The last reference to the stream was released before the stream was closed or read to its end. The connection
    /// has been aborted.
    case droppedUnclosed
}

extension StreamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connectionClosed:
            "the connection was closed on this side; read and write before close() or abort()"
        case .readPending:
            "another read of this connection is pending; wait for it or cancel it before the next one"
        case .unexpectedEnd(let received):
            "the peer finished sending before the read was complete, after \(received.count) of its bytes"
        case .limitExceeded(let limit):
            "the message to read has more than \(limit) bytes; raise the limit of the read, or take the "
                + "bytes with read()"
        case .writeSideShutDown:
            "nothing can be written after shutdownWrite(); call it after the last write"
        case .drained:
            "this write does not reach the peer: the server is draining and has ended the connection, "
                + "because its handler only waited for the next message; set endsWhenIdle = false, and end the "
                + "connection when its draining completes"
        case .notReadable:
            "nothing can be read from this stream, which is for writing only; read from the other end"
        case .notWritable:
            "nothing can be written to this stream, which is for reading only; write to the other end"
        case .backpressureExceeded(let queued, let limit):
            "the connection was aborted: the peer left \(queued) bytes waiting, over the limit of \(limit); "
                + "wait for the futures of write, or for writable"
        case .timedOut(let limit, let duration, let unread, let unsent):
            "the connection was ended: \(limit.event) for \(duration), with \(unread) bytes unread and \(unsent) "
                + "unsent; if the peer is not at fault, raise StreamLimits.\(limit.name)"
        case .flushTimedOut(let deadline, let unsent):
            "the connection was aborted: \(unsent) bytes were still unsent \(deadline) after close(); "
                + "give close(within:) more time"
        case .unacknowledged(let count):
            "the connection was closed before the peer had acknowledged the last \(count) bytes; give "
                + "close(within:) more time, or let the peer read all of them"
        case .crowdedOut(let limit):
            "the connection was reset while it waited for its peer to finish: more than \(limit) connections "
                + "of the loop waited like that; raise StreamLimits.maxLingering, or let peers finish first"
        case .madeRoom:
            "the connection was reset to make room for another one: its peer had not completed its first message; if the "
                + "peer is not at fault, raise AcceptLimits.maxConnections, TLSHandshakeLimits.maxConcurrent or the "
                + "limit of descriptors"
        case .droppedUnclosed:
            "a connection was dropped without close() and has been aborted; keep it until it is closed"
        }
    }
}

extension StreamTimeLimit {
    fileprivate var event: String {
        switch self {
        case .handshake: "the peer sent no first message"
        case .framing: "the peer did not complete what it had begun to send"
        case .read: "the peer sent nothing"
        case .write: "the peer took nothing"
        case .idle: "nothing was received or sent"
        case .lifetime: "it has lasted"
        }
    }
}
