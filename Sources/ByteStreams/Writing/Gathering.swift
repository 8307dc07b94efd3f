internal import FoundationEssentials
internal import Futures

/// The writes of one stream in one turn of the loop, which leave together.
final class Gathering {
    /// The number of bytes up to which a buffer is copied behind the bytes before it.
    static let copiedSize = 16_384
    /// The number of bytes at which the gathered bytes leave, although the turn goes on.
    static let fullSize = 262_144
    /// The memory that is kept from turn to turn.
    private static let keptCapacity = 524_288

    /// The first `count` bytes come after `buffers`. The others are left from earlier turns: overwriting them takes
    /// less time than appending. Unchecked, like `buffers`, since each write would be checked at run time. No use of
    /// these runs user code.
    @exclusivity(unchecked) private var memory: [UInt8] = []
    private var count = 0
    @exclusivity(unchecked) private var buffers: [Data] = []
    private(set) var byteCount = 0
    /// The promise of a future that completes when the gathered bytes have left. `nil` if nobody has asked for it.
    var promise: Promise<Void>?

    func append(_ span: RawSpan) {
        let end = count + span.byteCount
        if unsafe end <= memory.count {
            unsafe memory.overwrite(from: count, with: span)
        } else {
            unsafe memory.removeLast(memory.count - count)
            unsafe memory.append(copying: span)
        }
        count = end
        byteCount += span.byteCount
    }

    func append(_ buffer: Data) {
        guard buffer.count > Self.copiedSize else { return append(buffer.bytes) }
        if count > 0 { unsafe buffers.append(bytes(from: 0)) }
        unsafe buffers.append(buffer)
        count = 0
        byteCount += buffer.count
    }

    /// All bytes.
    var all: [Data] { unsafe count == 0 ? buffers : buffers + [bytes(from: 0)] }

    private func bytes(from start: Int) -> Data { unsafe Data(memory[start..<count]) }

    /// Gives all bytes to `transport` with one call. Returns those that it does not take, or `nil`.
    func send(to transport: any ByteTransport) throws -> [Data]? {
        if unsafe buffers.isEmpty {
            let taken = unsafe try transport.tryWrite(memory, first: count)
            return taken == count ? nil : [bytes(from: taken)]
        }
        let all = all
        let taken = try transport.tryWrite(all)
        return taken == byteCount ? nil : all.dropping(taken)
    }

    /// Forgets all bytes. Returns the promise of those who wait for them, and the buffers: user code may run, and may
    /// write, when the last reference to a buffer goes.
    func removeAll() -> (Promise<Void>?, [Data]) {
        var gathered: [Data] = []
        unsafe swap(&gathered, &buffers)
        if unsafe memory.capacity > Self.keptCapacity { unsafe memory = [] }
        (count, byteCount) = (0, 0)
        return (promise.take(), gathered)
    }
}
