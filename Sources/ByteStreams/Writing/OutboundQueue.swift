package import FoundationEssentials
internal import Futures

/// The writes that the transport has not finished, in order. The first few are in its hands, as one batch.
/// A stream has a queue only as long as there is a batch.
final class OutboundQueue {
    /// What one vectored write takes. More bytes than that at a time would only delay the futures of the first.
    static let batchBuffers = 64
    static let batchBytes = 262_144
    /// So much of what it takes to remember writes counts for nothing.
    private static let freeBookkeeping = 65_536

    private struct Write {
        var buffers: [Data]
        /// How many of `buffers` have been put into a batch.
        var handedOver = 0
        let promise: Promise<Void>
    }

    private var writes: [Write] = []
    /// The first write that is not finished, and the first that is not in the batch with all its buffers.
    private var start = 0
    private var next = 0
    /// The number of the write at index 0.
    private var firstID = 0
    private(set) var bytesInBatch = 0
    /// What is queued, the whole batch included.
    private var byteCount = 0
    /// What it takes to remember the writes, roughly.
    private var bookkeeping = 0

    /// What is queued, if so many bytes of the batch have not left yet.
    func byteCount(unwritten: Int) -> Int { byteCount - bytesInBatch + unwritten }

    /// What counts against the cap: many small writes take more memory than their bytes.
    func load(unwritten: Int) -> Int {
        max(byteCount(unwritten: unwritten), bookkeeping - Self.freeBookkeeping)
    }

    private static func bookkeeping(of buffers: [Data]) -> Int { 512 + 32 * buffers.count }

    /// Queues a write, and returns its number.
    func append(_ buffers: [Data], _ promise: Promise<Void>) -> Int {
        bookkeeping += Self.bookkeeping(of: buffers)
        writes.append(Write(buffers: buffers, promise: promise))
        byteCount += buffers.totalCount
        return firstID + writes.count - 1
    }

    /// Takes a write's bytes out, if none of them have left. Its future is the caller's.
    func remove(_ id: Int) -> Bool {
        let index = id - firstID
        guard index >= start, index < writes.count, writes[index].handedOver == 0 else { return false }
        byteCount -= writes[index].buffers.totalCount
        bookkeeping -= Self.bookkeeping(of: writes[index].buffers) - Self.bookkeeping(of: [])
        writes[index].buffers = []
        return true
    }

    /// The next batch. Empty if only writes without bytes are left.
    func takeBatch() -> [Data] {
        var batch: [Data] = []
        while next < writes.count {
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

    /// The batch has left. Returns the promises of the writes that are finished by it: completing them releases
    /// what users captured, which may write.
    func finishBatch() -> [Promise<Void>] {
        byteCount -= bytesInBatch
        bytesInBatch = 0
        var finished: [Promise<Void>] = []
        while start < next {
            finished.append(writes[start].promise)
            bookkeeping -= Self.bookkeeping(of: writes[start].buffers)
            writes[start].buffers = []
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

    /// Gives everything up.
    func fail(_ error: any Error) {
        let writes = writes[start...]
        self.writes = []
        for write in writes {
            write.promise.future.ignoreFailure()
            write.promise.fail(error)
        }
    }
}

extension [Data] {
    var totalCount: Int { reduce(0) { $0 + $1.count } }

    /// What is left without the first `count` bytes.
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
