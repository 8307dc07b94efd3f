internal import Futures
internal import Synchronization

/// The clock, the events that are to come, and the hosts of a simulation: those of a ``World``, or the one
/// host of a virtual loop.
final class Simulation {
    /// The time since the beginning, in nanoseconds.
    var now: UInt64 = 0
    var agenda = Agenda()
    private var lastNumber: UInt64 = 0
    private(set) var hosts: [SimulatedHost] = []
    /// The choices that the seed makes. `nil` on a virtual loop: what the system may do in one way or another
    /// happens in the simplest way.
    var choices: Choices?
    /// Whether a loop of the world has been woken, mostly by another thread.
    let hasWokenLoops = Atomic(false)
    let trace = Trace()
    let routes = Routes()
    /// The addresses of the name servers.
    var nameServers: [String] = []

    func add(_ host: SimulatedHost) { hosts.append(host) }

    /// Returns a number that no other object of the simulation has.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds an event. Events of the same time happen in an order that the seed chooses or, without a seed, in
    /// the order in which they were added.
    func add(_ event: any SimulatedEvent, at time: UInt64) { agenda.add(event, at: max(time, now)) }

    func call(after delay: Duration = .zero, _ body: @escaping () -> Void) {
        add(Call(body), at: now.addingSaturated(delay.wholeNanoseconds ?? 0))
    }

    func call(at time: UInt64, _ body: @escaping () -> Void) { add(Call(body), at: time) }

    var nextTime: UInt64? { agenda.nextTime }

    /// Lets the next event happen, if it is due. Returns `false` if none is due.
    func takeDue() -> Bool {
        guard let event = agenda.takeDue(at: now) else { return false }
        event.happen()
        return true
    }

    /// Returns how many bytes a read takes. Without a seed, all that there are.
    func mostToRead() -> Int {
        guard choices != nil, choices!.network.next() & 15 == 0 else { return 65_536 }
        return 1 + choices!.network.below(64)
    }

    /// Forgets what is to come, and the connections. They refer to the simulation.
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
