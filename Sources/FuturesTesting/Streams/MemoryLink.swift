internal import FoundationEssentials
internal import Futures

/// The link between the two ends of a connection in memory.
final class MemoryLink {
    /// One direction of the link.
    final class Wire {
        /// The items that are in transit or wait to be read.
        fileprivate var items: [(item: PieceQueue.Content, arrival: LoopInstant)] = []
        fileprivate var byteCount = 0
        /// The time when a reset arrives. Nothing is sent after the reset.
        fileprivate var resetArrival: LoopInstant?
        /// Whether the reader has been closed. Bytes that arrive then are answered with a reset.
        fileprivate var isAbandoned = false
        weak var reader: MemoryTransport?
        weak var writer: MemoryTransport?

        /// The first item that has not been taken, and the time when it arrives.
        var next: (item: PieceQueue.Content, arrival: LoopInstant)? { items.first }
    }

    let loop: LoopCore
    /// The two directions. Each wire carries the items sent by the end with the same number.
    let wires = [Wire(), Wire()]
    private let capacity: Int
    private let faults: StreamFaults
    private var random: SplitMix
    private var isCut = false
    private var resetTimer: ScheduledTask<Void>?
    private(set) var injected = StreamFaults.Counts()

    init(_ loop: LoopCore, capacity: Int, faults: StreamFaults) {
        self.loop = loop
        self.capacity = capacity
        self.faults = faults
        random = SplitMix(faults.seed)
    }

    private func opposite(of wire: Wire) -> Wire { wires[wire === wires[0] ? 1 : 0] }

    // MARK: Sending

    /// Returns the number of bytes that may be sent now.
    func room(on wire: Wire) -> Int { capacity - wire.byteCount }

    func send(_ data: Data, on wire: Wire) {
        var rest = data
        var parts = 1
        if data.count > 1, happens(faults.fragment) {
            injected.fragmented += 1
            parts = 2 + random.below(min(data.count - 1, 4))
        }
        while !rest.isEmpty {
            let size = parts > 1 ? 1 + random.below(rest.count) : rest.count
            parts -= 1
            sendPiece(Data(rest.prefix(size)), on: wire)
            rest = rest.dropFirst(size)
        }
    }

    private func sendPiece(_ data: Data, on wire: Wire) {
        var delay = Duration.zero
        if happens(faults.delay) {
            injected.delayed += 1
            delay = randomDelay()
        }
        if happens(faults.reset), resetTimer == nil {
            resetTimer = loop.schedule(after: randomDelay()) { [unowned self] in reset() }
        }
        if happens(faults.cut), !isCut { cut() }
        wire.byteCount += data.count
        let arrival = arrival(after: delay, on: wire)
        if !isCut, case .bytes(let before)? = wire.items.last?.item, happens(faults.coalesce) {
            injected.coalesced += 1
            wire.items[wire.items.count - 1] = (.bytes(before + data), arrival)
            wire.reader?.incomingChanged()
        } else {
            add(.bytes(data), arrival, to: wire)
        }
    }

    func sendEnd(on wire: Wire) { add(.end, arrival(after: .zero, on: wire), to: wire) }

    /// Sends a reset. Items that have not arrived are lost.
    func sendReset(on wire: Wire) {
        dropUnderWay(on: wire)
        addReset(to: wire)
    }

    /// Records that the reader of `wire` has been closed. Bytes in transit are answered with a reset when they arrive.
    func abandon(_ wire: Wire) {
        wire.isAbandoned = true
        let left = exchange(&wire.items, with: [])
        if case (.bytes, let arrival)? = left.first { addReset(to: opposite(of: wire), at: arrival) }
        if opposite(of: wire).isAbandoned { resetTimer?.cancel() }
    }

    private func add(_ item: PieceQueue.Content, _ arrival: LoopInstant, to wire: Wire) {
        if isCut {
            wire.writer?.isNotAcknowledged(within: faults.cutNotice)
        } else if wire.isAbandoned {
            if case .bytes = item { addReset(to: opposite(of: wire), at: arrival) }
        } else if wire.resetArrival == nil {
            wire.items.append((item, arrival))
            wire.reader?.incomingChanged()
        }
    }

    private func addReset(to wire: Wire, at instant: LoopInstant? = nil) {
        let arrival = max(arrival(after: .zero, on: wire), instant ?? loop.now)
        guard !isCut, wire.resetArrival == nil else { return }
        add(.reset, arrival, to: wire)
        wire.resetArrival = arrival
        wire.reader?.resetUnderWay(until: arrival)
    }

    /// Returns the arrival time of an item that is sent now. An item never arrives before earlier items.
    private func arrival(after delay: Duration, on wire: Wire) -> LoopInstant {
        let arrival = loop.now.advanced(by: delay)
        return max(arrival, wire.items.last?.arrival ?? arrival)
    }

    // MARK: Receiving

    /// Returns the next item if it has arrived.
    func arrived(on wire: Wire) -> PieceQueue.Content? {
        wire.next.flatMap { item, arrival in arrival <= loop.now ? item : nil }
    }

    /// Removes the next item.
    func takeNext(from wire: Wire) {
        if case .bytes(let data) = wire.items.removeFirst().item {
            wire.byteCount -= data.count
            wire.writer?.roomChanged()
        }
    }

    /// Returns whether a reset has arrived. From then on writes fail, even if bytes from before the reset are left to
    /// read.
    func isReset(_ wire: Wire) -> Bool { wire.resetArrival.map { $0 <= loop.now } ?? false }

    // MARK: Faults

    private func happens(_ probability: Double) -> Bool { probability > 0 && random.fraction() < probability }

    private func randomDelay() -> Duration { faults.maximumDelay * random.fraction() }

    private func reset() {
        guard !isCut else { return }
        injected.resets += 1
        for wire in wires { sendReset(on: wire) }
    }

    private func cut() {
        isCut = true
        injected.cuts += 1
        for wire in wires where dropUnderWay(on: wire) {
            wire.writer?.isNotAcknowledged(within: faults.cutNotice)
        }
    }

    /// Drops the items that have not arrived, and returns whether there were any. The bytes still count against the
    /// capacity, because nobody reads them.
    @discardableResult
    private func dropUnderWay(on wire: Wire) -> Bool {
        let now = loop.now
        let before = wire.items.count
        wire.items.removeAll { $0.arrival > now }
        return wire.items.count < before
    }
}
