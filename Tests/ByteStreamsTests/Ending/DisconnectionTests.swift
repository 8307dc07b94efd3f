import ByteStreams
import FoundationEssentials
import Futures
import Testing

struct DisconnectionTests {
    @Test("only an end inside a message means that the peer has left")
    func disconnection() {
        struct Other: Error {}
        #expect(StreamError.unexpectedEnd(received: Data("a")).isDisconnection)
        let others: [any Error] = [
            StreamError.connectionClosed, StreamError.limitExceeded(limit: 1), StreamError.droppedUnclosed,
            StreamError.timedOut(.idle, after: .seconds(1), unread: 0, unsent: 0),
            StreamError.flushTimedOut(after: .seconds(1), unsent: 1), CancellationError(), Other(),
        ]
        for error in others { #expect(!error.isDisconnection, "\(error)") }
    }

    @Test("a failed clean-up after a disconnection is one only if it failed because the peer had left, too")
    func cleanUp() {
        let left = StreamError.unexpectedEnd(received: Data("a"))
        #expect(CleanUpError(left, cleanUpError: left).isDisconnection)
        #expect(CleanUpError(left, cleanUpError: StreamError.connectionClosed).isDisconnection)
        #expect(!CleanUpError(left, cleanUpError: Broken()).isDisconnection)
        #expect(!CleanUpError(Broken(), cleanUpError: left).isDisconnection)
        #expect(!CleanUpError(Broken(), cleanUpError: StreamError.connectionClosed).isDisconnection)
    }
}
