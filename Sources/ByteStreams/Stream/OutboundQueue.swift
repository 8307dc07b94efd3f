package import FoundationEssentials
internal import Futures

/// The writes that the transport has not finished, in order. The transport has been given the first few
/// writes as one batch. A stream has a queue only as long as there is a batch.
final class OutboundQueue {
    /// The largest number of buffers in one vectored write.
    static let batchBuffers = 64
    /// The number of bytes at which a batch is full. With larger batches, the first writes would complete
    /// later.
    static let batchBytes = 262_144
    /// The part of `bookkeeping` that does not count against the write cap.
    private static let freeBookkeeping = 65_536

    struct Write {
        fileprivate var buffers: [Data]
        /// The number of `buffers` that have been put into a batch.
        fileprivate var handedOver = 0
        /// The source that brings bytes in place of `buffers`, or `nil`.
        fileprivate var source: (any OutboundSource)?
        let promise: Promise<Void>
    }

    private var writes: [Write] = []
    /// The index of the first write that is not finished.
    private var start = 0
    /// The index of the first write that still has buffers outside of the batch.
    private var next = 0
    /// The number of the write at index 0.
    private var firstID = 0
    private(set) var bytesInBatch = 0
    /// The writes of this turn, which leave at its end. While they are gathered, the queue has no other writes.
    var gathering: Gathering?
    /// The source that sends now, in place of a batch.
    private(set) var source: (any OutboundSource)?
    /// The number of queued bytes, including the whole batch.
    private var byteCount = 0
    /// The approximate memory that the list of writes takes, in bytes, without the contents of the buffers.
    private var bookkeeping = 0

    init(_ gathering: Gathering? = nil) { self.gathering = gathering }

    /// Returns the number of queued bytes. `unwritten` is the number of bytes of the batch that have not left
    /// yet.
    func byteCount(unwritten: Int) -> Int {
        gathering?.byteCount ?? byteCount - bytesInBatch + unwritten
    }

    /// Returns the number that counts against the write cap: the queued bytes or, if that is more, the
    /// bookkeeping. Many small writes take more memory than their bytes.
    func load(unwritten: Int) -> Int {
        max(byteCount(unwritten: unwritten), bookkeeping - Self.freeBookkeeping)
    }

    private static func bookkeeping(of buffers: [Data]) -> Int { 512 + 32 * buffers.count }

    /// Queues a write, of `buffers` or of what `source` brings, and returns its number.
    func append(_ buffers: [Data], _ source: (any OutboundSource)? = nil, _ promise: Promise<Void>) -> Int {
        bookkeeping += Self.bookkeeping(of: buffers)
        writes.append(Write(buffers: buffers, source: source, promise: promise))
        byteCount += buffers.totalCount
        return firstID + writes.count - 1
    }

    /// Removes the bytes of write number `id`, and returns `true`. The caller then ends the future of the
    /// write. Returns `false` if some of the bytes are in a batch already.
    func remove(_ id: Int) -> Bool {
        let index = id - firstID
        guard index >= start, index < writes.count, writes[index].handedOver == 0 else { return false }
        let removed = writes[index]
        byteCount -= removed.buffers.totalCount
        bookkeeping -= Self.bookkeeping(of: removed.buffers) - Self.bookkeeping(of: [])
        writes[index].buffers = []
        writes[index].source = nil
        // Not released before: user code may run, and may write, when the last reference to a buffer goes.
        withExtendedLifetime(removed) {}
        return true
    }

    /// Takes the next batch. The batch is empty if no queued write has bytes.
    func takeBatch() -> [Data] {
        var batch: [Data] = []
        while next < writes.count, writes[next].source == nil {
            while writes[next].handedOver < writes[next].buffers.count {
                guard batch.count < Self.batchBuffers, bytesInBatch < Self.batchBytes else { return batch }
                let buffer = writes[next].buffers[writes[next].handedOver]
                writes[next].handedOver += 1
                guard !buffer.isEmpty else { continue }
                batch.append(buffer)
                bytesInBatch += buffer.count
            }
            next += 1
        }
        return batch
    }

    /// Takes the source of the next write, after an empty batch. Returns `nil` if no source is next.
    func takeSource() -> (any OutboundSource)? {
        guard next < writes.count, let source = writes[next].source else { return nil }
        self.source = source
        writes[next].handedOver = 1
        next += 1
        return source
    }

    /// Makes `bytes` of the source the batch.
    func beginPart(_ bytes: Data) {
        bytesInBatch = bytes.count
        byteCount += bytes.count
    }

    /// Notes that the batch, which was a part from the source, has left.
    func finishPart() {
        byteCount -= bytesInBatch
        bytesInBatch = 0
    }

    /// Notes that the batch has left, and returns all writes that are finished now. The caller completes their promises
    /// and lets their buffers go when the stream is ready for new writes: both may run user code, which may write.
    func finishBatch() -> [Write] {
        finishPart()
        source = nil
        var finished: [Write] = []
        while start < next {
            finished.append(writes[start])
            bookkeeping -= Self.bookkeeping(of: writes[start].buffers)
            writes[start].buffers = []
            writes[start].source = nil
            start += 1
        }
        if start * 2 > writes.count {
            firstID += start
            writes.removeSubrange(..<start)
            start = 0
            next = 0
        }
        return finished
    }

    /// Fails all queued writes with `error`.
    func fail(_ error: any Error) {
        gathering.take()?.promise?.fail(error)
        for write in exchange(&writes, with: [])[start...] {
            write.promise.future.ignoreFailure()
            write.promise.fail(error)
        }
    }
}

extension [Data] {
    package var totalCount: Int { reduce(0) { $0 + $1.count } }

    /// Returns the buffers without their first `count` bytes.
    package func dropping(_ count: Int) -> [Data] {
        var left = count
        var rest: [Data] = []
        for buffer in self {
            if left < buffer.count { rest.append(buffer.dropFirst(left)) }
            left = Swift.max(0, left - buffer.count)
        }
        return rest
    }
}
