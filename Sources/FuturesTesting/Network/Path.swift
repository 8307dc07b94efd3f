internal import Futures

/// One direction between two hosts, or the path from a host to itself.
final class Path {
    enum State { case open, cut, held }

    private(set) var state = State.open
    /// Whether the path was cut or held on request. A cut path loses messages.
    var isCut = false { didSet { refresh() } }
    var isHeld = false { didSet { refresh() } }
    /// The active faults that cut, hold or slow down the path.
    var faults = PathFaults() { didSet { refresh() } }
    /// The time that a message takes.
    var latency = World.Latency.none
    /// The number of bytes per second. `nil` for no limit.
    var bandwidth: Int?
    /// The effects on datagrams, without and with those of the active faults.
    var ownTrouble = DatagramTrouble()
    var trouble: DatagramTrouble { ownTrouble.adding(faults) }
    /// The group of datagrams with the same arrival time that includes the one sent last.
    var landing: Landing?
    /// The datagrams that have arrived while the path is held.
    var held: [() -> Void] = []
    /// The time at which the last message will have left.
    private var busyUntil: UInt64 = 0
    /// The wires of open connections on this path, by their numbers.
    private var wires: [UInt64: Wire] = [:]
    private unowned let from: SimulatedHost
    private unowned let to: SimulatedHost
    let simulation: Simulation

    init(from: SimulatedHost, to: SimulatedHost) {
        self.from = from
        self.to = to
        simulation = from.simulation
        refresh()
    }

    var isOpen: Bool { state == .open }

    /// Drops the datagrams that are held or in transit. They refer to the path.
    func forget() {
        held = []
        landing = nil
    }

    func add(_ wire: Wire) { wires[wire.number] = wire }
    func remove(_ wire: Wire) { wires[wire.number] = nil }

    /// Returns the arrival time of a message that is sent now.
    func arrival(ofBytes count: Int) -> UInt64 { departure(ofBytes: count).arrival }

    /// Returns the time at which a message that is sent now has left, and its arrival time.
    func departure(ofBytes count: Int) -> (departure: UInt64, arrival: UInt64) {
        var start = simulation.now
        if let bandwidth {
            start = max(start, busyUntil)
                .addingSaturated(UInt64(Double(count) / Double(bandwidth) * 1e9))
            busyUntil = start
        }
        return (start, start.addingSaturated(delay()))
    }

    /// Returns the travel time of a message that leaves now.
    func delay() -> UInt64 { latency.draw(&simulation.choices).addingSaturated(faults.delay) }

    /// Recomputes the state.
    func refresh() {
        let before = state
        state =
            isCut || faults.cuts > 0 || from.isOff || to.isOff
            ? .cut : isHeld || faults.holds > 0 ? .held : .open
        guard state != before else { return }
        let landed = exchange(&held, with: [])
        if state == .open { for arrived in landed { arrived() } }
        for wire in all { state == .open ? wire.pathIsOpen(after: before) : wire.pathIsBlocked() }
    }

    /// The wires, oldest first.
    var all: [Wire] { wires.sorted { $0.key < $1.key }.map(\.value) }
}

/// The effects of the active faults on a path.
struct PathFaults {
    var cuts = 0
    var holds = 0
    /// The extra time that each message takes, in nanoseconds.
    var delay: UInt64 = 0
    /// The number of active faults that lose, duplicate and reorder datagrams.
    var unreliable = 0
}

extension DatagramTrouble {
    /// The fraction of datagrams that such a fault loses, duplicates and reorders.
    private static let share = 0.3

    fileprivate func adding(_ faults: PathFaults) -> DatagramTrouble {
        guard faults.unreliable > 0 else { return self }
        var sum = self
        sum.loss = max(loss, Self.share)
        sum.duplication = max(duplication, Self.share)
        sum.reordering = max(reordering, Self.share)
        return sum
    }
}

extension Path: CustomStringConvertible {
    /// The two hosts, as in `a → b`.
    var description: String { "\(from.name) → \(to.name)" }
}
