internal import Futures

/// One direction of the way between two hosts, or the way of a host to itself.
final class Path {
    enum State { case open, cut, held }

    private(set) var state = State.open
    /// Whether messages are lost, and whether they are held, because a program or a fault asked for it.
    var isCut = false { didSet { refresh() } }
    var isHeld = false { didSet { refresh() } }
    /// The faults that cut and hold the path, and those that slow it down.
    var faults = PathFaults() { didSet { refresh() } }
    /// The time that a message takes.
    var latency = World.Latency.none
    /// The number of bytes that pass in a second. `nil` if there is no limit.
    var bandwidth: Int?
    /// What happens to datagrams, and what the faults that last add to it.
    var ownTrouble = DatagramTrouble()
    var trouble: DatagramTrouble { ownTrouble.adding(faults) }
    /// The datagrams that arrive together, of which the last one to leave is one.
    var landing: Landing?
    /// The datagrams that have arrived while the path is held.
    var held: [() -> Void] = []
    /// The time when the last message will have left.
    private var busyUntil: UInt64 = 0
    /// The wires of open connections along this path, by their numbers.
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

    /// Forgets the datagrams that are held or on their way. They refer to the path.
    func forget() {
        held = []
        landing = nil
    }

    func add(_ wire: Wire) { wires[wire.number] = wire }
    func remove(_ wire: Wire) { wires[wire.number] = nil }

    /// Returns when a message that is sent now arrives.
    func arrival(ofBytes count: Int) -> UInt64 { departure(ofBytes: count).arrival }

    /// Returns when a message that is sent now has left, and when it arrives.
    func departure(ofBytes count: Int) -> (departure: UInt64, arrival: UInt64) {
        var start = simulation.now
        if let bandwidth {
            start = max(start, busyUntil)
                .addingSaturated(UInt64(Double(count) / Double(bandwidth) * 1e9))
            busyUntil = start
        }
        return (start, start.addingSaturated(delay()))
    }

    /// Returns the time that a message takes that leaves now.
    func delay() -> UInt64 { latency.draw(&simulation.choices).addingSaturated(faults.delay) }

    /// Finds the state again, because something that decides it has changed.
    func refresh() {
        let before = state
        state =
            isCut || faults.cuts > 0 || from.isOff || to.isOff
            ? .cut : isHeld || faults.holds > 0 ? .held : .open
        guard state != before else { return }
        let landed = held
        held = []
        if state == .open { for arrived in landed { arrived() } }
        for wire in all { state == .open ? wire.pathIsOpen(after: before) : wire.pathIsBlocked() }
    }

    /// The wires, the oldest first.
    var all: [Wire] { wires.sorted { $0.key < $1.key }.map(\.value) }
}

/// The effects of the faults that last, on a path.
struct PathFaults {
    var cuts = 0
    var holds = 0
    /// The time that each message takes in addition, in nanoseconds.
    var delay: UInt64 = 0
    /// The number of faults under which datagrams are lost, doubled and overtaken.
    var unreliable = 0
}

extension DatagramTrouble {
    /// The share of datagrams that a fault loses, doubles and lets others overtake.
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
