package import FoundationEssentials

/// What carries a stream's bytes: a socket, a pipe, memory. One transport serves one ``ByteStream``.
///
/// All on the loop's thread. The stream owns its transport; the transport knows the stream weakly, and holds it
/// strongly only while it calls one of the stream's `transport…` methods. It never does that within a call of
/// the stream or within another one of these, and each of its own callbacks ends with a turn of the loop:
///
/// - `transportDidRead(_:)`: bytes, not empty, `startIndex` 0, in a block of at most twice their size; or
///   `transportDidRead(_:orAs:)`: bytes that stay the transport's, and how to have such a block of them instead, which is
///   called once at most, and after which the bytes are not to be looked at;
/// - `transportDidReachEnd()`: the peer has finished sending. Reading has stopped before, and stays so;
/// - `transportDidFail(_:)`: the connection broke, which is to be noticed while nothing is read, too. The stream answers with `close(resetting:)`;
/// - `transportDidWrite(failure:)`, `transportDidShutdown(failure:)`: once for each call they answer;
/// - `transportDidClose()`: the last call of all, also when the loop closed the transport by itself.
package protocol ByteTransport: AnyObject {
    /// Delivers what arrives, until `stopReading`.
    func startReading() throws
    /// Delivers nothing more until `startReading`, not even the end.
    func stopReading()
    /// Takes the bytes that have come and have not been delivered, in blocks as `transportDidRead` gives them. Called
    /// when the connection has broken.
    func takeUndelivered() -> [Data]
    /// Whether a close may take from the peer what it was sent last, if it is not heard out first: that of a socket
    /// whose peer has not finished sending. Called once at most, when it is to be closed.
    var losesIfNotHeardOut: Bool { get }
    /// How much of what has left, a told end included, the peer has not acknowledged; 0 if that is not known.
    var unacknowledgedBytes: Int { get }
    /// Takes what fits without waiting; the number of bytes taken, 0 if it would have to wait. `bytes` is not empty.
    func tryWrite(_ bytes: RawSpan) throws -> Int
    /// The same, with one vectored write. Not all of `buffers` are empty.
    func tryWrite(_ buffers: [Data]) throws -> Int
    /// Takes all of `buffers`, in order, in the background, and then calls `transportDidWrite` once.
    /// Not called again before that, nor is `tryWrite`. There are at most 64 buffers.
    func write(_ buffers: [Data])
    /// How many bytes of the last `write` have not left yet.
    var unwrittenBytes: Int { get }
    /// Tells the peer that nothing follows, and then calls `transportDidShutdown`. That the peer has gone already
    /// is no failure. Called once at most, when everything has been written.
    func shutdownWrite()
    /// Ends everything at once, by a reset if `resetting`, and then calls `transportDidClose`. Called once at
    /// most; a pending `write` or `shutdownWrite` may be answered before or not at all. The stream may be gone by then.
    func close(resetting: Bool)
}

extension ByteTransport {
    package func takeUndelivered() -> [Data] { [] }
    package var losesIfNotHeardOut: Bool { false }
    package var unacknowledgedBytes: Int { 0 }
}
