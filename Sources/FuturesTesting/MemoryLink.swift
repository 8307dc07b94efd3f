internal import FoundationEssentials
internal import Futures

/// The link between the two ends of a connection in memory.
final class MemoryLink {
    enum Direction: Int {
        case there, back

        var opposite: Direction { self == .there ? .back : .there }
    }

    enum Item {
        case bytes(Data)
        case end
        case reset
    }

    /// One direction: the bytes that are under way or wait to be read.
    private struct Wire {
        var items: [(item: Item, arrival: LoopInstant)] = []
        var byteCount = 0
        /// The time when a reset comes. Nothing follows it.
        var resetArrival: LoopInstant?
        /// Whether its reader has been closed, and answers what comes with a reset.
        var isAbandoned = false
        weak var reader: MemoryTransport?
        weak var writer: MemoryTransport?
    }

    let loop: LoopCore
    private let capacity: Int
    private let faults: StreamFaults
    private var random: FaultGenerator
    private var wires = [Wire(), Wire()]
    private var isCut = false
    private var resetTimer: ScheduledTask<Void>?
    private(set) var injected = StreamFaults.Counts()

    init(_ loop: LoopCore, capacity: Int, faults: StreamFaults) {
        self.loop = loop
        self.capacity = capacity
        self.faults = faults
        random = FaultGenerator(state: faults.seed)
    }

    func connect(_ end: MemoryTransport, sends direction: Direction) {
        wires[direction.rawValue].writer = end
        wires[direction.opposite.rawValue].reader = end
    }

    // MARK: Sending

    /// Returns how many bytes may be sent.
    func room(_ direction: Direction) -> Int { capacity - wires[direction.rawValue].byteCount }

    func send(_ data: Data, _ direction: Direction) {
        var rest = data
        var parts = 1
        if data.count > 1, happens(faults.fragment) {
            injected.fragmented += 1
            parts = 2 + random.below(min(data.count - 1, 4))
        }
        while !rest.isEmpty {
            let size = parts > 1 ? 1 + random.below(rest.count) : rest.count
            parts -= 1
            sendPiece(Data(rest.prefix(size)), direction)
            rest = rest.dropFirst(size)
        }
    }

    private func sendPiece(_ data: Data, _ direction: Direction) {
        var delay = Duration.zero
        if happens(faults.delay) {
            injected.delayed += 1
            delay = randomDelay()
        }
        if happens(faults.reset), resetTimer == nil {
            resetTimer = loop.schedule(after: randomDelay()) { [unowned self] in reset() }
            resetTimer?.future.ignoreFailure()
        }
        if happens(faults.cut), !isCut { cut() }
        let wire = direction.rawValue
        wires[wire].byteCount += data.count
        let arrival = arrival(after: delay, direction)
        if !isCut, case .bytes(let before)? = wires[wire].items.last?.item, happens(faults.coalesce) {
            injected.coalesced += 1
            wires[wire].items[wires[wire].items.count - 1] = (.bytes(before + data), arrival)
            wires[wire].reader?.incomingChanged()
        } else {
            add(.bytes(data), arrival, direction)
        }
    }

    func sendEnd(_ direction: Direction) { add(.end, arrival(after: .zero, direction), direction) }

    /// Sends a reset. What has not arrived is lost.
    func sendReset(_ direction: Direction) {
        dropUnderWay(direction)
        addReset(direction)
    }

    /// Notes that nobody reads what comes in `direction` any more. What is under way is answered when it arrives.
    func abandon(_ direction: Direction) {
        wires[direction.rawValue].isAbandoned = true
        let left = wires[direction.rawValue].items
        wires[direction.rawValue].items = []
        if case (.bytes, let arrival)? = left.first { addReset(direction.opposite, at: arrival) }
        if wires[direction.opposite.rawValue].isAbandoned { resetTimer?.cancel() }
    }

    private func add(_ item: Item, _ arrival: LoopInstant, _ direction: Direction) {
        let wire = wires[direction.rawValue]
        if isCut {
            wire.writer?.isNotAcknowledged(within: faults.cutNotice)
        } else if wire.isAbandoned {
            if case .bytes = item { addReset(direction.opposite, at: arrival) }
        } else if wire.resetArrival == nil {
            wires[direction.rawValue].items.append((item, arrival))
            wire.reader?.incomingChanged()
        }
    }

    private func addReset(_ direction: Direction, at instant: LoopInstant? = nil) {
        let arrival = max(arrival(after: .zero, direction), instant ?? loop.now)
        guard !isCut, wires[direction.rawValue].resetArrival == nil else { return }
        add(.reset, arrival, direction)
        wires[direction.rawValue].resetArrival = arrival
        wires[direction.rawValue].reader?.resetUnderWay(until: arrival)
    }

    /// Returns when something sent now arrives. It overtakes nothing that was sent before.
    private func arrival(after delay: Duration, _ direction: Direction) -> LoopInstant {
        let arrival = loop.now.advanced(by: delay)
        return max(arrival, wires[direction.rawValue].items.last?.arrival ?? arrival)
    }

    // MARK: Receiving

    /// Whether there are bytes to be read now.
    func hasArrived(_ direction: Direction) -> Bool {
        guard case (.bytes, let arrival)? = wires[direction.rawValue].items.first else { return false }
        return arrival <= loop.now
    }

    /// Whether the end is all that is left to be read now.
    func hasEnded(_ direction: Direction) -> Bool {
        guard case (.end, let arrival)? = wires[direction.rawValue].items.first else { return false }
        return arrival <= loop.now
    }

    /// Returns what comes next, and when.
    func next(_ direction: Direction) -> (item: Item, arrival: LoopInstant)? {
        wires[direction.rawValue].items.first
    }

    /// Takes what has come first.
    func takeNext(_ direction: Direction) {
        if case .bytes(let data) = wires[direction.rawValue].items.removeFirst().item {
            wires[direction.rawValue].byteCount -= data.count
            wires[direction.rawValue].writer?.roomChanged()
        }
    }

    /// Whether a writer has to fail, though there may be something to be read before.
    func isReset(_ direction: Direction) -> Bool {
        wires[direction.rawValue].resetArrival.map { $0 <= loop.now } ?? false
    }

    // MARK: Faults

    private func happens(_ probability: Double) -> Bool { probability > 0 && random.fraction() < probability }

    private func randomDelay() -> Duration { faults.maximumDelay * random.fraction() }

    private func reset() {
        guard !isCut else { return }
        injected.resets += 1
        for direction in [Direction.there, .back] { sendReset(direction) }
    }

    private func cut() {
        isCut = true
        injected.cuts += 1
        for direction in [Direction.there, .back] where dropUnderWay(direction) {
            wires[direction.rawValue].writer?.isNotAcknowledged(within: faults.cutNotice)
        }
    }

    /// Drops what is under way, and returns whether there was something. It goes on to take room, which nobody gives
    /// back.
    @discardableResult
    private func dropUnderWay(_ direction: Direction) -> Bool {
        let now = loop.now
        let before = wires[direction.rawValue].items.count
        wires[direction.rawValue].items.removeAll { $0.arrival > now }
        return wires[direction.rawValue].items.count < before
    }
}

/// Random numbers that can be repeated (SplitMix64).
struct FaultGenerator {
    var state: UInt64

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Returns a number from 0 to less than 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53 as UInt64) }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
