package import Futures

/// The datagrams of a socket that the system has not taken yet, in order. Their bytes are contiguous, so that several
/// of the same size can be handed over as one. A class, because user code may send while the queue is flushed.
package final class OutgoingDatagrams {
    package struct Entry {
        package let bytes: Range<Int>
        /// The peer, or `nil` for the only peer of the socket.
        package let target: SocketAddress?
        /// The address to send from, or `nil` for that of the socket.
        package let source: SocketAddress?
        /// The promise of the datagram. Datagrams that were sent with one call share it, and the last one completes it.
        fileprivate let promise: BarePromise
        fileprivate let isLast: Bool
    }

    /// Not a tuple: releasing an array of tuples looks up their type at run time.
    private struct Settled {
        let promise: BarePromise
        let error: (any Error)?
    }

    /// The memory that an empty queue keeps, in bytes.
    private static let kept = 16_384
    /// The memory of an entry, in bytes. It counts towards the load.
    private static let bookkeeping = MemoryLayout<Entry>.stride

    private var entries: [Entry] = []
    private var first = 0
    package private(set) var bytes: [UInt8] = []
    /// The promises to complete, and the errors of those that fail. Completing one may run user code, which may send.
    private var settled: [Settled] = []
    /// The number of datagrams that the system has taken so far, and of their bytes.
    package private(set) var sent = 0
    package private(set) var sentBytes = 0

    package init() {}

    package var isEmpty: Bool { first == entries.count }
    package var count: Int { entries.count - first }
    /// The number of queued bytes. The load, which is limited, also counts the memory of each entry.
    package var byteCount: Int { entries.isEmpty ? 0 : bytes.count - entries[first].bytes.lowerBound }
    package var load: Int { byteCount + count * Self.bookkeeping }

    package subscript(index: Int) -> Entry { entries[first + index] }

    /// Queues a datagram, and returns the new load. Returns `nil` and queues nothing if the former load and the new
    /// bytes together exceed `limit`.
    package func append(
        _ span: RawSpan, to target: SocketAddress?, from source: SocketAddress?, _ promise: BarePromise,
        isLast: Bool, upTo limit: Int
    ) -> Int? {
        guard load + span.byteCount <= limit else { return nil }
        let start = bytes.count
        unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        entries.append(
            Entry(
                bytes: start..<bytes.count, target: target, source: source, promise: promise, isLast: isLast))
        return load
    }

    /// Removes the first `count` datagrams, which the system has taken.
    package func didSend(_ count: Int) {
        for entry in entries[first..<first + count] {
            sent += 1
            sentBytes += entry.bytes.count
            if entry.isLast { settled.append(Settled(promise: entry.promise, error: nil)) }
        }
        first += count
        tidy()
    }

    /// Removes the first datagram, which the system has refused.
    package func didFail(_ error: any Error) {
        settled.append(Settled(promise: entries[first].promise, error: error))
        first += 1
        tidy()
    }

    package func failAll(_ error: any Error) { while !isEmpty { didFail(error) } }

    /// Completes the promises of the datagrams that have left or failed.
    package func completeSettled() {
        let settled = settled
        self.settled.removeAll(keepingCapacity: settled.count <= 64)
        for outcome in settled {
            if let error = outcome.error { outcome.promise.fail(error) } else { outcome.promise.succeed() }
        }
    }

    /// Releases memory. While datagrams wait, the bytes keep their places unless most datagrams have left.
    private func tidy() {
        if isEmpty {
            entries.removeAll(keepingCapacity: entries.capacity * Self.bookkeeping <= Self.kept)
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.kept)
            first = 0
        } else if first > 64, first > entries.count / 2 {
            let start = entries[first].bytes.lowerBound
            entries = entries[first...].map { entry in
                Entry(
                    bytes: entry.bytes.lowerBound - start..<entry.bytes.upperBound - start,
                    target: entry.target, source: entry.source, promise: entry.promise, isLast: entry.isLast)
            }
            bytes.removeFirst(start)
            first = 0
        }
    }
}
