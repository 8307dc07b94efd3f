package import FoundationEssentials
package import Futures

/// The carrier of a stream's bytes: a socket, a pipe, or memory. One transport serves one ``ByteStream``.
///
/// All calls happen on the loop's thread. The stream owns its transport. The transport has a weak reference
/// to the stream, and holds the stream only while it calls one of the stream's `transport…` methods. The
/// transport never calls such a method within a call from the stream, or within another such method. Each
/// callback of the transport ends with a turn of the loop. The methods are:
///
/// - `transportDidRead(_:)`: delivers bytes. There is at least one byte, and `startIndex` is 0. The block of
///   memory is at most twice as large as the bytes.
/// - `transportDidRead(_:orAs:)`: delivers bytes in memory of the transport, and a closure that returns such
///   a block with the same bytes. The stream calls the closure at most once, and does not use the span after
///   that call.
/// - `transportDidReachEnd()`: reports that the peer has finished sending. The transport has stopped reading
///   before, and does not start again.
/// - `transportDidFail(_:)`: reports that the connection broke. The transport notices this also while it does
///   not read. The stream answers with `close(resetting:)`.
/// - `transportDidWrite(failure:)`, `transportDidShutdown(failure:)`: answer a `write` or a `shutdownWrite`,
///   once each.
/// - `transportDidClose(losing:)`: is the last call, also when the loop closed the transport by itself. A transport
///   that takes bytes before the system has them passes the error if some of them were lost.
package protocol ByteTransport: AnyObject {
    /// Delivers what arrives, until `stopReading`.
    func startReading() throws
    /// Stops all deliveries until `startReading`. The end of the bytes is not delivered either.
    func stopReading()
    /// Takes the bytes that have arrived and have not been delivered, in blocks like those of
    /// `transportDidRead`. The stream calls this method when the connection has broken.
    func takeUndelivered() -> [Data]
    /// Whether the peer may lose the last bytes it was sent if the transport is closed now, before the peer
    /// has finished sending. `true` for a socket while its peer has not finished sending. The stream asks at
    /// most once, before it closes the transport.
    var losesIfNotHeardOut: Bool { get }
    /// Whether a read would find bytes or the end of the stream.
    var hasArrivals: Bool { get }
    /// Notes that something was written after a draining server had ended the stream.
    func noteCut()
    /// The wait for the handler of the stream beneath. `nil` if there is no such wait.
    var handling: OutcomeWait? { get }
    /// The number of bytes that have left and that the peer has not acknowledged. The end that
    /// `shutdownWrite` sends counts as one byte. 0 if the number is not known.
    var unacknowledgedBytes: Int { get }
    /// Takes as many of `bytes` as fit without waiting. Returns how many fit, or 0 if none do. `bytes` is not empty.
    func tryWrite(_ bytes: RawSpan) throws -> Int
    /// Takes bytes as `tryWrite` of one span does, but takes several buffers with one vectored write. At
    /// least one of `buffers` is not empty.
    func tryWrite(_ buffers: [Data]) throws -> Int
    /// Takes all of `buffers`, in order, in the background, and then calls `transportDidWrite` once. Until then the
    /// stream calls neither `write` nor `tryWrite`. There are at most 64 buffers.
    func write(_ buffers: [Data])
    /// The number of bytes of the last `write` that have not left yet.
    var unwrittenBytes: Int { get }
    /// Tells the peer that nothing follows, and then calls `transportDidShutdown`. Does not fail if the peer
    /// has already gone. The stream calls this method at most once, when all bytes have been written.
    func shutdownWrite()
    /// Ends the connection at once, by a reset if `resetting` is `true`, and then calls `transportDidClose`.
    /// The stream calls this method at most once. A pending `write` or `shutdownWrite` may be answered before
    /// the close, or never. The stream may be gone when the transport has closed.
    func close(resetting: Bool)
}

extension ByteTransport {
    package func takeUndelivered() -> [Data] { [] }
    package var losesIfNotHeardOut: Bool { false }
    package var unacknowledgedBytes: Int { 0 }
    package var hasArrivals: Bool { false }
    package func noteCut() {}
    package var handling: OutcomeWait? { nil }
}
