internal import Futures
internal import Synchronization

/// The clock, the pending events and the hosts of a simulation: those of a ``World``, or the single host of a virtual
/// loop.
final class Simulation {
    /// The next thing to happen in a world.
    enum Step {
        case event(any SimulatedEvent)
        case loop(VirtualDriver)
    }

    /// The time since the beginning in nanoseconds. Other threads may read it.
    var now: UInt64 {
        get { time.load(ordering: .relaxed) }
        set { time.store(newValue, ordering: .relaxed) }
    }
    private let time = Atomic<UInt64>(0)
    /// The pending events. Swift does not check the accesses at run time, because no other code runs while they change.
    @exclusivity(unchecked) private var events = EventQueue()
    private var eventCount: UInt64 = 0
    /// The loops of a world. Empty for a standalone virtual loop.
    var loops = LoopSchedule()
    /// Decides the order of simultaneous events, and of loops that are ready at the same time. If `nil`, events happen
    /// in the order in which they were added.
    var ties: SplitMix?
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
    func add(_ event: any SimulatedEvent, at time: UInt64) {
        eventCount += 1
        let tie = ties?.next() ?? 0
        unsafe events.add(event, at: max(time, now), order: tie & ~0xFFFF_FFFF | eventCount & 0xFFFF_FFFF)
    }

    func call(after delay: Duration = .zero, _ body: @escaping () -> Void) {
        add(Call(body), at: now.addingSaturated(delay.wholeNanoseconds ?? 0))
    }

    func call(at time: UInt64, _ body: @escaping () -> Void) { add(Call(body), at: time) }

    /// The time of the next event. `nil` if there is none.
    var nextTime: UInt64? { unsafe events.nextTime }

    /// Whether nothing is left to happen.
    var isOver: Bool { nextTime == nil && loops.readyCount == 0 && loops.nextDeadline == .max }

    /// Runs the next event if it is due. Returns `false` if no event is due.
    func takeDue() -> Bool {
        guard let nextTime, nextTime <= now else { return false }
        unsafe events.takeFirst().happen()
        return true
    }

    /// Moves the clock to the next step of a world, and returns that step. Returns `nil` if nothing happens until `end`.
    func takeStep(until end: UInt64) -> Step? {
        while true {
            let next = nextTime ?? .max
            let ready = loops.readyCount
            guard ready > 0 || next <= now else {
                let time = min(next, loops.nextDeadline)
                guard time <= end, time < .max else { return nil }
                now = max(now, time)
                loops.markDue(at: now)
                continue
            }
            // A due event counts as one more loop in the draw.
            let count = next <= now ? ready + 1 : ready
            let index = count > 1 ? ties!.below(count) : 0
            if index == ready { return .event(unsafe events.takeFirst()) }
            if let loop = loops.takeReady(at: index) { return .loop(loop) }
        }
    }

    /// Returns the largest number of bytes for the next read. Without a seed, always a full read.
    func mostToRead() -> Int {
        guard choices != nil, choices!.network.next() & 15 == 0 else { return 65_536 }
        return 1 + choices!.network.below(64)
    }

    /// Drops the events and the connections. They refer to the simulation.
    func end() {
        withExtendedLifetime(unsafe exchange(&events, with: EventQueue())) {}
        routes.end()
    }
}

/// An event that calls a closure.
private final class Call: SimulatedEvent {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func happen() { body() }
}
