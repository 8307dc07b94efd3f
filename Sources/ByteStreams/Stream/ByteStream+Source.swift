package import FoundationEssentials
package import Futures

/// An object that sends its own bytes in place of one write of a stream, such as a file copied to a connection.
package protocol OutboundSource: AnyObject {
    /// Called when all earlier writes have left. From now on, until `sourceEnded`, the source sends its bytes: those
    /// that it gives to `stream.send(part:)`, and those that it sends past the stream and reports to
    /// `stream.noteSentBySource(_:)`. The source calls neither within this call.
    func begin(on stream: ByteStream)
    /// Called when the part has been sent.
    func partWasSent()
    /// Called once at most, if the write is cancelled after `begin`. The source sends nothing more, and ends.
    func stop()
}

extension ByteStream {
    /// Sends what `source` brings, after all earlier writes and before all later ones. Completes and fails as a write does.
    package final func write(_ source: any OutboundSource) -> Future<Void> {
        core.checkThread()
        noteWrite(isEmpty: false)
        return enqueue([], source)
    }

    /// Whether `source` is the one that sends now. `false` once the connection has broken.
    package final func isSending(_ source: any OutboundSource) -> Bool {
        isConnected && outbound?.source === source
    }

    /// Sends a part of what the source brings, and then calls `partWasSent`.
    package final func send(part: Data) {
        outbound?.beginPart(part)
        transport.write([part])
        watchWrite()
    }

    /// Notes that the source has sent bytes past the stream.
    package final func noteSentBySource(_ count: Int) {
        sent += count
        watchWritten()
    }

    /// Notes that the source waits until the peer takes more, or that it does so no longer.
    package final func noteSourceWaits(_ isWaiting: Bool) {
        if isWaiting { watchWrite() } else { watchPause() }
    }

    /// Ends the connection, which broke while the source was sending past the stream.
    package final func sourceFailed(_ error: any Error) { transportBroke(error) }

    /// Ends the write of the source. With `failure`, its future fails, and the stream goes on.
    package final func sourceEnded(failure: (any Error)? = nil) {
        if let outbound { batchEnded(outbound, failure: failure) }
    }
}
