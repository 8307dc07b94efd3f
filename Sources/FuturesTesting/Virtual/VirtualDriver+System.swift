internal import Futures
internal import SystemIO

extension VirtualDriver: LoopSystem {
    var descriptors: (any DescriptorSystem)? { nil }

    func listen(on address: SocketAddress, _ options: ListenOptions) throws(SystemError) -> any ListenerSocket
    {
        try host.listen(on: address, options, self)
    }

    func listen(atPath path: SocketAddress, _ options: ListenOptions) throws -> any ListenerSocket {
        try host.listen(atPath: path, options, self)
    }

    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress
    ) throws(SystemError) -> any ConnectingTCPSocket {
        try host.makeSocket(from: address, to: peer, self)
    }

    func connect(toPath address: SocketAddress) throws(SystemError) -> any SocketTransport {
        try host.connect(toPath: address, self)
    }

    func makeDatagramSocket(
        local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> any DatagramTransport {
        try host.makeDatagramSocket(local: local, peer: peer, sharingPort: sharingPort, self)
    }

    func makeDatagramSocket(
        atPath path: SocketAddress, permissions: UInt32?, peer: SocketAddress?
    ) throws -> any DatagramTransport {
        try host.makeDatagramSocket(atPath: path, permissions: permissions, peer: peer, self)
    }

    func startProcess(_ launch: ProcessLaunch) throws -> ProcessStart {
        try host.startProcess(launch, self)
    }

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

    var wallClock: Duration { host.wallClock }

    var names: Any? { host.names }

    func nextResidentNumber() -> UInt64 { simulation.nextNumber() }

    func openStandardPipe(_ number: CInt) throws -> StandardPipeEnd? {
        try host.standardPipes[Int(number)].open(on: self)
    }

    func makeGroupLoop() throws -> (any GroupLoop)? {
        loop.checkThread()
        guard !loop.isShutDown else { throw FutureError.shutDown }
        guard host.isInWorld else {
            throw FutureError.invalidArgument(
                "EventLoop.virtual() is one loop by itself, and a server group needs several; use a host of a World"
            )
        }
        return SimulatedGroupLoop(loop: host.makeLoop())
    }

    func nameConfiguration(unless stamp: NameConfiguration.Stamp?) -> NameConfiguration? {
        host.nameConfiguration(unless: stamp)
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

    override func vanish() { close() }

    override func didClose() { onDelivery = {} }

    func isDelivered() {
        guard !isClosing else { return }
        let onDelivery = onDelivery
        if once { close() }
        driver.deliver { onDelivery() }
    }
}
