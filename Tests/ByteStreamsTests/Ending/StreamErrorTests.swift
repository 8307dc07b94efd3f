import ByteStreams
import FoundationEssentials
import Testing

struct StreamErrorTests {
    @Test("each error says what happened, with the numbers, and what to do")
    func descriptions() {
        let texts: [(StreamError, String)] = [
            (
                .connectionClosed,
                "the connection was closed on this side; read and write before close() or abort()"
            ),
            (
                .readPending,
                "another read of this connection is pending; wait for it or cancel it before the next one"
            ),
            (
                .unexpectedEnd(received: Data("abc")),
                "the peer finished sending before the read was complete, after 3 of its bytes"
            ),
            (
                .limitExceeded(limit: 10),
                "the message to read has more than 10 bytes; raise the limit of the read, or take the bytes "
                    + "with read()"
            ),
            (
                .writeSideShutDown,
                "nothing can be written after shutdownWrite(); call it after the last write"
            ),
            (
                .drained,
                "this write does not reach the peer: the server is draining and has ended the connection, "
                    + "because its handler only waited for the next message; set endsWhenIdle = false, and end the "
                    + "connection when its draining completes"
            ),
            (
                .notReadable,
                "nothing can be read from this stream, which is for writing only; read from the other end"
            ),
            (
                .notWritable,
                "nothing can be written to this stream, which is for reading only; write to the other end"
            ),
            (
                .backpressureExceeded(queued: 20, limit: 10),
                "the connection was aborted: the peer left 20 bytes waiting, over the limit of 10; "
                    + "wait for the futures of write, or for writable"
            ),
            (
                .flushTimedOut(after: .seconds(5), unsent: 7),
                "the connection was aborted: 7 bytes were still unsent 5.0 seconds after close(); "
                    + "give close(within:) more time"
            ),
            (
                .droppedUnclosed,
                "a connection was dropped without close() and has been aborted; keep it until it is closed"
            ),
        ]
        for (error, text) in texts { #expect("\(error)" == text) }
        let limits: [(StreamTimeLimit, String, String)] = [
            (.handshake, "the peer sent no first message", "StreamLimits.handshakeTimeout"),
            (.read, "the peer sent nothing", "StreamLimits.readTimeout"),
        ]
        for (limit, event, name) in limits {
            #expect(
                "\(StreamError.timedOut(limit, after: .seconds(5), unread: 3, unsent: 4))"
                    == "the connection was ended: \(event) for 5.0 seconds, with 3 bytes unread and 4 unsent; "
                    + "if the peer is not at fault, raise \(name)")
        }
    }
}
