internal import CLibUV
internal import FoundationEssentials

/// A write in progress, and its bytes.
@safe
final class UVWrite: UVRequest {
    static let maximumBuffers = 64
    /// The largest size, in bytes, of data that is copied. Small bytes may lie inside the `Data` value, and
    /// have no lasting address.
    static let maximumCopy = 32

    private let copies = UnsafeMutableRawPointer.allocate(
        byteCount: maximumBuffers * maximumCopy, alignment: 1)
    private let buffers = UnsafeMutablePointer<uv_buf_t>.allocate(capacity: maximumBuffers)
    private var retained: [Data] = []
    private var stream: UVStream?

    init() { super.init(UV_WRITE) }

    deinit {
        unsafe copies.deallocate()
        unsafe buffers.deallocate()
    }

    /// Calls `body` with the first `maximumBuffers` elements of `data` as libuv's buffers. The bytes keep
    /// their addresses until `clear`.
    func withBuffers(_ data: [Data], _ body: (UnsafeMutablePointer<uv_buf_t>, CUnsignedInt) -> CInt) -> CInt {
        retained = data
        let count = min(data.count, Self.maximumBuffers)
        for index in 0..<count { unsafe buffers[index] = buffer(data[index], at: index) }
        return unsafe body(buffers, CUnsignedInt(count))
    }

    /// Returns a buffer with the bytes of `data`. The address of a larger `Data` is used after
    /// `withUnsafeBytes` returns. That is sound, because such bytes live in an object on the heap, and
    /// `retained` keeps this object. Code that changes another copy of the `Data` gets new bytes, and does
    /// not change these.
    private func buffer(_ data: Data, at index: Int) -> uv_buf_t {
        unsafe data.withUnsafeBytes { bytes in
            guard bytes.count <= Self.maximumCopy else { return unsafe uv_buf_t(reading: bytes) }
            let copy = unsafe UnsafeMutableRawBufferPointer(
                start: copies + index * Self.maximumCopy, count: bytes.count)
            unsafe copy.copyMemory(from: bytes)
            return unsafe uv_buf_t(copy)
        }
    }

    fileprivate func clear() -> [Data] {
        let bytes = retained
        retained = []
        stream = nil
        return bytes
    }

    /// Starts to write, and returns libuv's status. If the status is 0, calls `didWrite` of the stream at the
    /// end.
    func start(_ data: [Data], on stream: UVStream) -> CInt {
        self.stream = stream
        return unsafe withBuffers(data) { buffers, count in
            submit {
                unsafe uv_write(memory(as: uv_write_t.self), stream.uvStream, buffers, count) {
                    unsafe UVWrite.completed($0!.pointee.data).complete($1)
                }
            }
        }
    }

    private func complete(_ status: CInt) {
        let stream = stream!
        let bytes = stream.driver.writes.put(self)
        stream.loop.turn {
            stream.didWrite(status)
            withExtendedLifetime(bytes) {}
        }
    }
}

extension uv_buf_t {
    init(_ bytes: UnsafeMutableRawBufferPointer) {
        unsafe self.init(base: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }

    /// Wraps bytes that libuv only reads.
    init(reading bytes: UnsafeRawBufferPointer) {
        unsafe self.init(UnsafeMutableRawBufferPointer(mutating: bytes))
    }
}

/// A pool of writes that can be used again.
struct UVWritePool {
    private static let capacity = 64
    private var free: [UVWrite] = []

    mutating func take() -> UVWrite { free.popLast() ?? UVWrite() }

    /// Takes `write` back. Returns its bytes: user code may run, and may write, when the last reference to them goes.
    @discardableResult
    mutating func put(_ write: UVWrite) -> [Data] {
        if free.count < Self.capacity { free.append(write) }
        return write.clear()
    }
}
