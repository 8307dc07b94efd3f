internal import CFuturesSystem
internal import Glibc
internal import SystemIO

extension UVDatagrams {
    /// The most bytes, and the most datagrams, that the kernel takes as one message.
    private static let most = (bytes: 65_507, segments: 64)

    /// The number of times that the first datagram is tried, since the kernel may answer with errors of earlier ones.
    /// Also the number of such errors in a row at which the socket counts as unable to receive.
    static let patience = 16

    func flush(_ queue: OutgoingDatagrams, isLast: Bool) {
        guard !waitsToSend || isLast else { return }
        var tries = 0
        while !queue.isEmpty {
            guard !isClosing, !hasLost(descriptor) else {
                return queue.failAll(SystemError(.badDescriptor, "send", local: localAddress))
            }
            let (counts, sent) = sendBatch(queue)
            guard sent < 0 else {
                queue.didSend(counts.prefix(Int(sent)).reduce(0, +))
                tries = 0
                continue
            }
            tries += 1
            switch -sent {
            case EINTR: continue
            // A UNIX socket without a peer of its own is always writable, and each of its peers has a queue.
            case EAGAIN where family != AF_UNIX || peerAddress != nil:
                waitsToSend = true
                return
            case _ where tries < Self.patience && takeNetworkErrors(): continue
            case _ where counts[0] > 1: maximumSegment = queue[0].bytes.count - 1
            case let error:
                let (local, peer) = (queue[0].source ?? localAddress, queue[0].target ?? peerAddress)
                queue.didFail(SystemError(-error, "send", local: local, peer: peer))
                tries = 0
            }
        }
    }

    /// Hands over the first datagrams. Returns how many datagrams each message has, and how many messages the kernel has
    /// taken, or a negated `errno` if it refuses the first.
    private func sendBatch(_ queue: OutgoingDatagrams) -> (counts: [Int], sent: CInt) {
        unsafe queue.bytes.withUnsafeBytes { bytes in
            var counts: [Int] = []
            var next = 0
            while next < queue.count, counts.count < UVDatagramBlock.slots {
                let first = queue[next]
                let count = run(at: next, of: queue)
                let range = first.bytes.lowerBound..<queue[next + count - 1].bytes.upperBound
                unsafe block.fill(
                    counts.count, UnsafeRawBufferPointer(rebasing: bytes[range]),
                    segment: count > 1 ? first.bytes.count : 0, to: first.target, from: first.source)
                counts.append(count)
                next += count
            }
            return (counts, block.send(counts.count, to: descriptor))
        }
    }

    /// Returns the number of datagrams from `start` on that the kernel takes as one: of the same size, the last of
    /// which may be shorter, between the same addresses.
    private func run(at start: Int, of queue: OutgoingDatagrams) -> Int {
        let first = queue[start]
        let size = first.bytes.count
        guard size > 0, size <= maximumSegment else { return 1 }
        var count = 1
        while start + count < queue.count, count < Self.most.segments, (count + 1) * size <= Self.most.bytes {
            let next = queue[start + count]
            guard next.target == first.target, next.source == first.source, !next.bytes.isEmpty,
                next.bytes.count <= size
            else { break }
            count += 1
            if next.bytes.count < size { break }
        }
        return count
    }
}
