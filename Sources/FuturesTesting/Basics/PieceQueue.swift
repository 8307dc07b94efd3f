internal import FoundationEssentials

/// The pieces that one socket has sent and the other has not read, in the order of sending. First come pieces that have
/// arrived, then pieces in transit, then pieces that wait to be sent.
struct PieceQueue {
    enum Content {
        case bytes(Data)
        case end
        case reset
    }

    private struct Piece {
        var content: Content
        var count: Int
        var arrival: UInt64 = .max
    }

    private var pieces: [Piece] = []
    private var first = 0
    /// The ends of the range of arrived pieces and of the range of sent pieces.
    private var arrived = 0
    private var sent = 0
    private(set) var unreadBytes = 0
    /// The number of bytes that have been sent but not read.
    private(set) var sentBytes = 0
    private var lastArrival: UInt64 = 0

    // MARK: Sending

    mutating func append(_ content: Content) {
        let count = if case .bytes(let data) = content { data.count } else { 0 }
        unreadBytes += count
        pieces.append(Piece(content: content, count: count))
    }

    /// The size of the next piece that waits to be sent. `nil` if none waits.
    var nextToSend: Int? { sent < pieces.count ? pieces[sent].count : nil }

    /// Sends waiting pieces while `window` has room. Only bytes use room. `arrival` returns the arrival time for a
    /// piece of the given size. A piece never arrives before an earlier piece. Returns the arrival time of the next
    /// piece in transit.
    mutating func sendAll(within window: Int, _ arrival: (Int) -> UInt64) -> UInt64? {
        while let count = nextToSend, count == 0 || sentBytes < window {
            lastArrival = max(lastArrival, arrival(count))
            pieces[sent].arrival = lastArrival
            sentBytes += count
            sent += 1
        }
        return nextArrival
    }

    /// Puts the pieces that are in transit at the time `now` back into the waiting state.
    mutating func sendAgain(at now: UInt64) {
        let due = due(at: now)
        for index in due..<sent { sentBytes -= pieces[index].count }
        sent = due
    }

    // MARK: Arriving

    /// The arrival time of the next piece in transit. `nil` if no piece is in transit.
    var nextArrival: UInt64? { arrived < sent ? pieces[arrived].arrival : nil }

    /// Delivers the pieces that are due. Returns a summary of them, or `nil` if no piece is due.
    mutating func arrive(at now: UInt64, hashing: Bool) -> Arrival? {
        var arrival = Arrival()
        let before = arrived
        while arrived < sent, pieces[arrived].arrival <= now {
            arrival.add(pieces[arrived].content, hashing: hashing)
            arrived += 1
        }
        return arrived > before ? arrival : nil
    }

    // MARK: Reading

    var hasArrivals: Bool { first < arrived }

    var hasArrivedBytes: Bool { first < arrived && pieces[first].count > 0 }

    /// Whether the next piece that has arrived is the end.
    var isAtEnd: Bool {
        guard first < arrived, case .end = pieces[first].content else { return false }
        return true
    }

    /// Removes and returns the next piece that has arrived. Consecutive bytes are returned as one piece of at most
    /// `most` bytes.
    mutating func take(most: Int) -> Content? {
        guard first < arrived else { return nil }
        guard case .bytes(var data) = pieces[first].content else { return removeFirst() }
        guard data.count <= most else {
            pieces[first].content = .bytes(Data(data.dropFirst(most)))
            pieces[first].count -= most
            didRead(most)
            return .bytes(Data(data.prefix(most)))
        }
        removeFirst()
        while first < arrived, case .bytes(let more) = pieces[first].content, data.count + more.count <= most
        {
            data.append(more)
            removeFirst()
        }
        return .bytes(data)
    }

    @discardableResult
    private mutating func removeFirst() -> Content {
        let content = pieces[first].content
        didRead(pieces[first].count)
        pieces[first].content = .end
        first += 1
        if first == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            (first, arrived, sent) = (0, 0, 0)
        } else if first > 64, first > pieces.count / 2 {
            pieces.removeFirst(first)
            (arrived, sent, first) = (arrived - first, sent - first, 0)
        }
        return content
    }

    private mutating func didRead(_ count: Int) {
        unreadBytes -= count
        sentBytes -= count
    }

    /// The number of bytes that have not arrived. An end counts as one byte.
    var missing: Int {
        pieces[arrived...].reduce(0) { sum, piece in
            if case .end = piece.content { sum + 1 } else { sum + piece.count }
        }
    }

    // MARK: Dropping

    mutating func dropArrived() { while first < arrived { removeFirst() } }

    mutating func dropUnsent() { drop(downTo: sent) }

    /// Drops the pieces that have not arrived at the time `now`.
    mutating func dropMissing(at now: UInt64) { drop(downTo: due(at: now)) }

    /// Returns the index after the pieces that have arrived or arrive now.
    private func due(at now: UInt64) -> Int {
        var index = arrived
        while index < sent, pieces[index].arrival <= now { index += 1 }
        return index
    }

    /// Drops a reset that waits to be sent. Returns `false` if there is none.
    mutating func dropWaitingReset() -> Bool {
        guard pieces.count > sent, case .reset? = pieces.last?.content else { return false }
        pieces.removeLast()
        return true
    }

    private mutating func drop(downTo count: Int) {
        while pieces.count > count {
            let piece = pieces.removeLast()
            unreadBytes -= piece.count
            if pieces.count < sent { sentBytes -= piece.count }
        }
        sent = min(sent, pieces.count)
    }
}

/// A summary of the pieces that arrived at one time.
struct Arrival {
    private(set) var bytes = 0
    private(set) var hasEnd = false
    private(set) var hasReset = false
    private(set) var hash: UInt64 = 0

    fileprivate mutating func add(_ content: PieceQueue.Content, hashing: Bool) {
        switch content {
        case .bytes(let data):
            bytes += data.count
            if hashing { hash = Trace.mix(hash, data.bytes) }
        case .end: hasEnd = true
        case .reset: hasReset = true
        }
    }
}

extension Arrival: CustomStringConvertible {
    var description: String {
        let parts = [
            bytes > 0 ? "\(bytes) bytes" : nil, hasEnd ? "the end" : nil, hasReset ? "a reset" : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: " and ")
    }
}
