internal import Futures
internal import SystemIO

extension VirtualDriver: LoopSystem {
    var descriptors: (any DescriptorSystem)? { nil }

    // A simulated process leaves no orphans.
    func adoptOrphans(_ isAdopting: Bool) -> Bool { true }
    func orphans() -> [Int32]? { [] }

    func catchSignal(_ number: CInt, once: Bool) -> any SignalWatch {
        SimulatedSignal(self, number, once: once)
    }

    func runInPool(_ job: RemoteJob) {
        guard !job.loop.isShutDown, job.isWaiting else { return job.cancel() }
        simulation.call(after: host.workDuration) {
            if job.loop.isShutDown { job.cancel() } else { job.run() }
        }
    }

    var fileSystem: any FileSystem { SimulatedFiles(store: host.disk.store) }

    func runOnDisk(_ job: RemoteJob) { host.disk.run(job) }

    func makeFileEvents() throws(SystemError) -> any FileEventSource {
        guard host.hasDescriptor else { throw SystemError(.tooManyOpenFiles, "inotify_init1") }
        return SimulatedFileEvents(self)
    }

    var wallClock: Duration { host.wallClock }

    var names: Any? { host.names }

    func openStandardPipe(_ number: CInt) throws -> (any StreamCarrier)? {
        try host.standardPipes[Int(number)].open(on: self)
    }

    func makeGroupLoop() throws -> (any GroupLoop)? {
        try loop.checkRuns()
        try requireArgument(
            host.isInWorld,
            "EventLoop.virtual() is one loop by itself, and a server group needs several; use a host of a World"
        )
        return SimulatedGroupLoop(loop: host.makeLoop())
    }
}

/// A watch of a signal on a simulated host.
final class SimulatedSignal: SimulatedHandle, SignalWatch {
    let signal: CInt
    private let once: Bool
    var onDelivery: () -> Void = {}

    init(_ driver: VirtualDriver, _ signal: CInt, once: Bool) {
        self.signal = signal
        self.once = once
        super.init(driver)
    }

    override var usesDescriptor: Bool { false }

    override var line: String { "signal \(signal)" }

    override func didClose() { onDelivery = {} }

    func isDelivered() {
        guard !isClosing else { return }
        let onDelivery = onDelivery
        if once { close() }
        driver.deliver { onDelivery() }
    }
}
