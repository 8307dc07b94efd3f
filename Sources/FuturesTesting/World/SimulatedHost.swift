public import Futures
internal import SystemIO

/// A host of a ``World``: a machine with a name, addresses, and a program that runs on the loops of the host.
///
/// The loop of the host has the network, the names, the clock, the signals and the standard streams of the world. A
/// program that takes its loop as an argument runs on it unchanged.
public final class SimulatedHost {
    public let name: String
    /// The numeric addresses of the host, IPv4 and IPv6. Each host also has 127.0.0.1 and ::1 as loopback addresses.
    public let addresses: [String]
    /// The same addresses, with port 0.
    let ownAddresses: [SocketAddress]
    unowned let simulation: Simulation
    let isInWorld: Bool

    /// Whether the host is paused: its program does not run, but its system does.
    public var isPaused: Bool { standsStill }
    /// The stored value of ``isPaused``. Not public, so that accesses are not checked for exclusivity each time.
    var standsStill = false
    /// Whether the host has crashed or its program has ended, without a restart since.
    public internal(set) var isDown = false
    /// Whether the whole machine is off. `false` if only the program has ended.
    var isOff = false
    /// The number of times that the host has been started.
    public internal(set) var startCount = 0
    /// The largest number of descriptors that the programs of the host may have open: for sockets, files, directories,
    /// watches and child processes. Beyond it, any operation that needs a descriptor fails with
    /// `SystemError.Code.tooManyOpenFiles`, even if it needs the descriptor only briefly, for example to look at a file.
    /// Traps if it is negative.
    public var maxDescriptors = Int.max {
        didSet { check("maxDescriptors", maxDescriptors, maxDescriptors >= 0, "0 or more") }
    }
    /// The number of active faults that leave the host without descriptors.
    var shortages = 0
    /// The time that a closure takes in `RemoteContext.pool`. Traps if it is negative.
    public var workDuration: Duration = .zero {
        didSet { check("workDuration", workDuration, workDuration >= .zero, "zero or more") }
    }
    /// The initial difference between the host's wall clock and the world's. Traps if it is more than 2⁶⁰ seconds in
    /// either direction.
    public var wallClockOffset: Duration = .zero {
        didSet {
            let isInRange = (Duration.seconds(-(1 << 60))...(.seconds(1 << 60))).contains(wallClockOffset)
            check("wallClockOffset", wallClockOffset, isInRange, "at most \(1 << 60) seconds either way")
        }
    }
    /// The number of seconds that the host's wall clock gains each second. With 0.001, the clock is a millisecond ahead
    /// after one second. Traps if it is not from -1,000,000 to 1,000,000.
    public var wallClockDrift = 0.0 {
        didSet {
            let isInRange = (-1e6...1e6).contains(wallClockDrift)
            check("wallClockDrift", wallClockDrift, isInRange, "-1000000 to 1000000")
        }
    }

    /// The disk of the host.
    public private(set) lazy var disk = SimulatedDisk(of: self)
    var nameFiles = SimulatedNameFiles()
    var sockets = SocketTable()
    /// The program's standard input, output and error.
    private(set) lazy var standardPipes = makeStandardPipes()
    /// The programs that the program of the host can start by `ChildProcess`, by their names.
    ///
    /// A program is looked up by its whole path, and then by the part after the last slash. The closure is the program.
    /// It is called in a separate event after the process is started. The value of its future is the exit code of the
    /// process.
    ///
    /// ```swift
    /// let host = try World(seed: 1).addHost("a")
    /// host.programs["greet"] = { process in
    ///     process.standardOutput.write("hello \(process.arguments[1])\n").map { 0 }
    /// }
    /// ```
    public var programs: [String: (SimulatedProcess) throws -> Future<Int32>] {
        get { programTable }
        set { withExtendedLifetime(exchange(&programTable, with: newValue)) {} }
    }
    private var programTable: [String: (SimulatedProcess) throws -> Future<Int32>] = [:]
    /// The number of the process that was started last.
    var lastProcess: Int32 = 1000
    var loops: [EventLoop] = []
    var maxCallbacksPerInstant = 1_000_000
    weak var world: World?
    private(set) var drivers: [VirtualDriver] = []
    private var postponed: [() -> Void] = []
    var program: (SimulatedHost) throws -> Void = { _ in }
    var names: (any NameResolver)?
    var random: SplitMix?

    init(
        _ name: String, _ addresses: [String], _ simulation: Simulation, isInWorld: Bool
    ) {
        self.name = name
        self.addresses = addresses
        ownAddresses = addresses.map { SocketAddress(canonicalHost: $0, port: 0) }
        self.simulation = simulation
        self.isInWorld = isInWorld
    }

    private func check(_ what: String, _ value: Any, _ isInRange: Bool, _ range: String) {
        if isInRange { return }
        fatalError("The \(what) of host \(name) was set to \(value); give \(range).")
    }

    /// The start of all simulated clocks: the beginning of the year 2000, in seconds since 1970.
    private static let epoch: Duration = .seconds(946_684_800)

    var wallClock: Duration {
        let passed = Duration.nanoseconds(Int64(clamping: simulation.now))
        return Self.epoch + wallClockOffset + passed + passed * wallClockDrift
    }

    func randomNumber() -> UInt64 { random?.next() ?? UInt64.random(in: .min ... .max) }

    /// Creates a loop on this host.
    func makeLoop(maxCallbacksPerInstant: Int) -> EventLoop {
        let driver = VirtualDriver(simulation, self, maxCallbacksPerInstant: maxCallbacksPerInstant)
        let core = LoopCore(on: driver, movesWithTasks: true)
        driver.loop = core
        drivers.append(driver)
        if isInWorld { driver.slot = simulation.loops.add(driver) }
        // A program that awaits may create a loop in its own task. The loop belongs to the task that runs the world.
        if let first = loops.first { core.moveWithTask(of: first.core) }
        return EventLoop(owning: core)
    }

    func loopDidClose(_ driver: VirtualDriver) {
        drivers.removeAll { $0 === driver }
        if let slot = driver.slot { simulation.loops.remove(slot) }
        guard !isInWorld else { return }
        // The programs may refer to the loop.
        programs = [:]
        disk.end()
        simulation.end()
    }

    /// Removes a loop that has ended before the others.
    func forget(_ loop: EventLoop) { loops.removeAll { $0 == loop } }

    /// Runs the other loops of the host once, because `driver` waits for them. Returns `false` if they have nothing to
    /// do.
    func serveLoops(besides driver: VirtualDriver) -> Bool {
        let others = drivers.filter { $0 !== driver && $0.canRun }
        for other in others { other.runOnce() }
        return !others.isEmpty
    }

    private func makeStandardPipes() -> [StandardPipe] { (0...2).map { StandardPipe($0, of: self) } }

    func resetStandardPipes() { standardPipes = makeStandardPipes() }

    /// Calls `body` when the host is no longer paused.
    func postpone(_ body: @escaping () -> Void) { postponed.append(body) }

    func takePostponed() -> [() -> Void] {
        exchange(&postponed, with: [])
    }
}
