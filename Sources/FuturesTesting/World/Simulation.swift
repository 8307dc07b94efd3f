internal import Futures
internal import Synchronization

/// The clock, the pending events and the hosts of a simulation: those of a ``World``, or the single host of a virtual
/// loop.
final class Simulation {
    /// The time since the beginning in nanoseconds.
    var now: UInt64 = 0
    var agenda = Agenda()
    private var lastNumber: UInt64 = 0
    private(set) var hosts: [SimulatedHost] = []
    /// The choices that the seed makes. `nil` on a virtual loop, whose system always behaves in the simplest of the
    /// possible ways.
    var choices: Choices?
    /// Whether a loop of the world has been woken, usually by another thread.
    let hasWokenLoops = Atomic(false)
    let trace = Trace()
    let routes = Routes()
    /// The addresses of the name servers.
    var nameServers: [String] = []

    func add(_ host: SimulatedHost) { hosts.append(host) }

    /// Returns a number that is unique in the simulation.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds an event. The seed chooses the order of simultaneous events. Without a seed, they happen in the order in
    /// which they were added.
    func add(_ event: any SimulatedEvent, at time: UInt64) { agenda.add(event, at: max(time, now)) }

    func call(after delay: Duration = .zero, _ body: @escaping () -> Void) {
        add(Call(body), at: now.addingSaturated(delay.wholeNanoseconds ?? 0))
    }

    func call(at time: UInt64, _ body: @escaping () -> Void) { add(Call(body), at: time) }

    var nextTime: UInt64? { agenda.nextTime }

    /// Runs the next event if it is due. Returns `false` if no event is due.
    func takeDue() -> Bool {
        guard let event = agenda.takeDue(at: now) else { return false }
        event.happen()
        return true
    }

    /// Returns the largest number of bytes for the next read. Without a seed, always a full read.
    func mostToRead() -> Int {
        guard choices != nil, choices!.network.next() & 15 == 0 else { return 65_536 }
        return 1 + choices!.network.below(64)
    }

    /// Drops the events and the connections. They refer to the simulation.
    func end() {
        agenda.removeEvents()
        routes.end()
    }
}

/// An event that calls a closure.
private final class Call: SimulatedEvent {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func happen() { body() }
}
