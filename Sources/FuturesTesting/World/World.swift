internal import Futures
internal import SystemIO

/// A simulated world of hosts with programs, a network and a clock. One seed decides everything that happens in it: two
/// runs with the same seed are identical.
///
/// A program that takes its ``Futures/EventLoop`` as an argument runs on the loop of a host unchanged. It listens,
/// connects, resolves names, and waits for signals and timers as on a real loop. No real time passes while it waits.
///
/// ```swift
/// let world = World(seed: 17)
/// let host = try world.addHost("a") { host in host.loop.sleep(for: .seconds(3600)).whenSuccess { host.note("done") } }
/// world.keepsTrace = true
/// try world.run(for: .seconds(7200))
/// print(world.trace)    // ["3600.000000 s  a done"]
/// ```
///
/// The world belongs to the thread or the task that created it. Its programs run in ``run(for:)`` and
/// ``run(until:within:)``. When the world is released, all its loops are shut down.
///
/// The world controls only what programs ask of their loop. A program that reads a real clock, uses threads, or depends
/// on the order of a `Set` or a `Dictionary`, may behave differently in each run. To find such programs,
/// ``explore(seeds:maxFailures:repeating:_:)`` runs each seed twice.
public final class World {
    /// The seed that decides everything.
    public let seed: UInt64
    let simulation = Simulation()
    /// The faults that happen instead of those that ``injectFaults(_:until:)`` would choose. `nil` to choose them.
    let givenFaults: [Fault]?
    /// The faults that happen, ordered by time.
    public internal(set) var faults: [Fault] = []
    /// The default latency of a new link. Traps if a time in it is negative.
    public var latency = Latency.uniform(.microseconds(200)...(.milliseconds(2))) {
        didSet { latency.check() }
    }
    /// The names of the world. The name of each host resolves to its addresses.
    public let names: SimulatedNames
    /// The first error of a program or of a check, which ends the run.
    var failure: (any Error)?
    var isRunning = false
    private let maxCallbacksPerInstant: Int

    /// Creates a world. With `faults`, ``injectFaults(_:until:)`` causes exactly these faults: pass the faults that an
    /// exploration has printed, to reproduce its failure.
    ///
    /// Like ``Futures/EventLoop/virtual(maxCallbacksPerInstant:)``, a loop of the world traps if its callbacks start
    /// each other endlessly while no time passes.
    public init(seed: UInt64, faults: [Fault]? = nil, maxCallbacksPerInstant: Int = 1_000_000) {
        BusyInstant.check(maxCallbacksPerInstant)
        self.seed = seed
        self.maxCallbacksPerInstant = maxCallbacksPerInstant
        givenFaults = faults
        names = SimulatedNames(simulation)
        simulation.ties = SplitMix(seed, for: 1)
        simulation.choices = Choices(seed: seed)
        simulation.trace.isOn = true
        simulation.routes.prepare = { [unowned self] in $0.latency = latency }
    }

    deinit { end() }

    /// Ends the programs of all hosts, and shuts down their loops. Releasing the world does the same, but a program
    /// that captures the world keeps it alive. In that case, call this function at the end of your test.
    ///
    /// ``explore(seeds:maxFailures:repeating:_:)`` calls this function for each of its worlds.
    public func end() {
        for host in simulation.hosts { host.end() }
        simulation.end()
    }

    /// The time since the beginning of the world.
    public var now: Duration { .nanoseconds(Int64(clamping: simulation.now)) }

    /// The hosts, in the order in which they were added.
    public var hosts: [SimulatedHost] { simulation.hosts }

    /// Returns the host with the name `name`. Traps if the world does not have it.
    public func host(_ name: String) -> SimulatedHost {
        if let host = simulation.hosts.first(where: { $0.name == name }) { return host }
        let names = simulation.hosts.map(\.name).joined(separator: ", ")
        fatalError(
            "A world was asked for its host \"\(name)\", but has none of that name. Its hosts are: \(names).")
    }

    /// Adds a host, and starts `program` on it. `program` gets the host, and uses its ``SimulatedHost/loop``. It starts
    /// its servers, clients and timers, and returns. When the host is restarted, `program` is called again.
    ///
    /// Without `addresses`, the host gets an IPv4 address in 10.0.0.0/16 and an IPv6 address in fd00::/16. If `program`
    /// throws, the current call of ``run(for:)`` or ``run(until:within:)`` throws that error. Throws
    /// ``Futures/FutureError/invalidArgument(_:)`` if another host has that name or one of the addresses, or if the
    /// name is not a valid host name.
    @discardableResult
    public func addHost(
        _ name: String, addresses: [String]? = nil,
        _ program: @escaping (_ host: SimulatedHost) throws -> Void = { _ in }
    ) throws -> SimulatedHost {
        let number = simulation.hosts.count + 1
        let addresses =
            addresses ?? ["10.0.\(number / 256).\(number % 256)", "fd00::\(String(number, radix: 16))"]
        let numeric = try addresses.map { try SocketAddress(host: $0, port: 0).host }
        guard case .name? = try? Host(name, port: 0) else {
            throw FutureError.invalidArgument("\"\(name)\" is not a name for a host; give one like server-1")
        }
        for host in hosts {
            try requireArgument(host.name != name, "the world has a host \(name) already")
            if let address = numeric.first(where: host.addresses.contains) {
                throw FutureError.invalidArgument("the host \(host.name) has the address \(address) already")
            }
        }
        let host = SimulatedHost(name, numeric, simulation, isInWorld: true)
        host.world = self
        host.names = names
        host.random = SplitMix(seed, for: 1000 + UInt64(number))
        host.disk.prepare(SplitMix(seed, for: 2000 + UInt64(number)))
        host.maxCallbacksPerInstant = maxCallbacksPerInstant
        host.program = program
        simulation.add(host)
        names.add(host)
        host.start()
        return host
    }

    /// Adds a host, and starts the asynchronous `program` on its loop. Otherwise behaves like the other `addHost`. You
    /// can write `program` as a trailing closure, without the label `awaiting`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    @discardableResult
    public func addHost(
        _ name: String, addresses: [String]? = nil, isolation: (any Actor)? = #isolation,
        awaiting program: @escaping (_ host: SimulatedHost) async throws -> Void
    ) throws -> SimulatedHost {
        try addHost(name, addresses: addresses) { host in
            Future(on: host.loop, isolation: isolation) { try await program(host) }
                .whenFailure { [unowned host] error in
                    if !(error is CancellationError), error as? FutureError != .shutDown {
                        host.failed(error)
                    }
                }
        }
    }

    /// The lines of the trace so far: each event with the time since the beginning. Empty unless ``keepsTrace`` has
    /// been set.
    public var trace: [String] { simulation.trace.text }

    /// Whether a line is kept for each event. The default is `false`.
    public var keepsTrace: Bool {
        get { simulation.trace.keepsLines }
        set { simulation.trace.keepsLines = newValue }
    }

    /// A hash of everything that has happened so far. Two runs with the same seed have the same hash.
    public var traceHash: UInt64 { simulation.trace.hash }

    /// Adds a line of your own to the trace.
    public func note(_ text: @autoclosure () -> String) {
        simulation.trace.note(text(), at: simulation.now)
    }
}

@available(*, unavailable, message: "A world belongs to the thread or the task that made it.")
extension World: Sendable {}
