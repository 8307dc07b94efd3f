package import FoundationEssentials

/// The carrier of a stream's bytes: a socket, a pipe, memory. One transport serves one ``ByteStream``.
///
/// All calls happen on the loop's thread. The stream owns its transport. The transport knows the stream weakly, and
/// holds it strongly only while it calls one of the stream's `transport…` methods. It never calls them within a call
/// of the stream or within another one of them. Each of its own callbacks ends with a turn of the loop:
///
/// - `transportDidRead(_:)`: delivers bytes, not empty, `startIndex` 0, in a block of at most twice their size; or
///   `transportDidRead(_:orAs:)`: delivers bytes that stay the transport's, and a closure that makes such a block of
///   them. The closure is called at most once, and after that the bytes are not to be looked at;
/// - `transportDidReachEnd()`: the peer has finished sending. Reading has stopped before, and stays so;
/// - `transportDidFail(_:)`: the connection broke. The transport has to notice that while nothing is read, too. The
///   stream answers with `close(resetting:)`;
/// - `transportDidWrite(failure:)`, `transportDidShutdown(failure:)`: once for each call they answer;
/// - `transportDidClose()`: the last call of all, also when the loop closed the transport by itself.
package protocol ByteTransport: AnyObject {
    /// Delivers what arrives, until `stopReading`.
    func startReading() throws
    /// Delivers nothing more until `startReading`, not even the end.
    func stopReading()
    /// Takes the bytes that have come and have not been delivered, in blocks like those of `transportDidRead`. Called
    /// when the connection has broken.
    func takeUndelivered() -> [Data]
    /// Whether a close may cost the peer the last bytes it was sent, unless the stream hears the peer out first. True
    /// for a socket while its peer has not finished sending. Called at most once, when the transport is to be closed.
    var losesIfNotHeardOut: Bool { get }
    /// The number of bytes that have left and that the peer has not acknowledged, a told end included; 0 if that is
    /// not known.
    var unacknowledgedBytes: Int { get }
    /// Takes what fits without waiting, and returns the number of bytes taken: 0 if it would have to wait. `bytes` is
    /// not empty.
    func tryWrite(_ bytes: RawSpan) throws -> Int
    /// Like `tryWrite` of one span, but takes several buffers with one vectored write. Not all of `buffers` are
    /// empty.
    func tryWrite(_ buffers: [Data]) throws -> Int
    /// Takes all of `buffers`, in order, in the background, and then calls `transportDidWrite` once. Until then the
    /// stream calls neither this nor `tryWrite` again. There are at most 64 buffers.
    func write(_ buffers: [Data])
    /// The number of bytes of the last `write` that have not left yet.
    var unwrittenBytes: Int { get }
    /// Tells the peer that nothing follows, and then calls `transportDidShutdown`. If the peer has gone already, that
    /// is not a failure. Called at most once, when everything has been written.
    func shutdownWrite()
    /// Ends everything at once, by a reset if `resetting`, and then calls `transportDidClose`. Called at most once. A
    /// pending `write` or `shutdownWrite` may be answered before or not at all. The stream may be gone by then.
    func close(resetting: Bool)
}

extension ByteTransport {
    package func takeUndelivered() -> [Data] { [] }
    package var losesIfNotHeardOut: Bool { false }
    package var unacknowledgedBytes: Int { 0 }
}
