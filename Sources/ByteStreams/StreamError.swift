public import FoundationEssentials

/// Why a stream, rather than the system below it, failed a future.
public enum StreamError: Error, Hashable {
    /// This side has closed or aborted the connection, or has begun to.
    case connectionClosed
    /// Another read, or a `forEachChunk`, is still waiting for bytes.
    case readPending
    /// The peer finished sending in the middle; `received` are the bytes that came, which no other read returns.
    case unexpectedEnd(received: Data)
    /// More bytes came than the read allows. All of them stay readable.
    case limitExceeded(limit: Int)
    /// Something was written after ``ByteStream/shutdownWrite()``.
    case writeSideShutDown
    /// The peer takes the bytes too slowly. The connection has been aborted.
    case backpressureExceeded(queued: Int, limit: Int)
    /// Closing took too long to send what was queued. The connection has been aborted.
    case flushTimedOut(after: Duration, unsent: Int)
    /// The last reference to the stream was released before it was closed. The connection has been aborted.
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
            "more than \(limit) bytes came without the end that the read waits for; raise its limit, or read() them"
        case .writeSideShutDown:
            "nothing can be written after shutdownWrite(); call it after the last write"
        case .backpressureExceeded(let queued, let limit):
            "the connection was aborted: the peer left \(queued) bytes waiting, over the limit of \(limit); "
                + "wait for the futures of write, or for writable"
        case .flushTimedOut(let deadline, let unsent):
            "the connection was aborted: \(unsent) bytes were still unsent \(deadline) after close(); "
                + "give close(within:) more time"
        case .droppedUnclosed:
            "a connection was dropped without close() and has been aborted; keep it until it is closed"
        }
    }
}
