internal import FoundationEssentials
internal import Futures

/// The writes of one stream in one turn of the loop, which leave together.
final class Gathering {
    /// The number of bytes up to which a buffer is copied behind the bytes before it.
    private static let copiedSize = 16_384
    /// The number of bytes at which they leave, although the turn goes on.
    static let fullSize = 262_144
    /// The memory that is kept from turn to turn.
    private static let keptCapacity = 524_288

    /// The bytes behind `buffers`. Unchecked, since each write would be checked at run time. No use of them runs code of
    /// others.
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    private var buffers: [Data] = []
    private(set) var byteCount = 0
    /// The promise of a future that completes when they have left. `nil` if nobody has asked for it.
    var promise: Promise<Void>?

    func append(_ span: RawSpan) {
        unsafe bytes.append(copying: span)
        byteCount += span.byteCount
    }

    func append(_ buffer: Data) {
        guard buffer.count > Self.copiedSize else { return append(buffer.bytes) }
        keepBytes()
        buffers.append(buffer)
        byteCount += buffer.count
    }

    private func keepBytes() {
        if unsafe !bytes.isEmpty { unsafe buffers.append(Data(bytes)) }
        removeBytes()
    }

    private func removeBytes() {
        unsafe bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    }

    /// Gives all bytes to `transport` with one call, and forgets those that it takes. Returns the others.
    func send(to transport: any ByteTransport) throws -> (taken: Int, rest: [Data]) {
        defer { (buffers, byteCount) = ([], 0) }
        guard !buffers.isEmpty else {
            let taken = unsafe try transport.tryWrite(bytes)
            let rest = unsafe taken == bytes.count ? [] : [Data(bytes[taken...])]
            removeBytes()
            return (taken, rest)
        }
        keepBytes()
        let taken = try transport.tryWrite(buffers)
        return (taken, buffers.dropping(taken))
    }
}
