internal import CFuturesSystem
internal import CLibUV
internal import Futures
internal import Glibc
internal import SystemIO

extension UVLoop: LoopSystem {
    func listen(on address: SocketAddress, _ options: ListenOptions) throws(SystemError) -> any ListenerSocket
    {
        try UVListener(self, address, options)
    }

    func listen(atPath path: SocketAddress, _ options: ListenOptions) throws -> any ListenerSocket {
        try UnixSocket.listen(path, options, on: self)
    }

    func makeSocket(
        from address: SocketAddress?, to peer: SocketAddress
    ) throws(SystemError) -> any ConnectingSocket {
        try UVTCP.made(self, from: address, to: peer)
    }

    func connect(toPath address: SocketAddress) throws(SystemError) -> any SocketTransport {
        try UnixSocket.connect(to: address, on: self)
    }

    func makeDatagramSocket(
        local: SocketAddress?, peer: SocketAddress?, sharingPort: Bool
    ) throws(SystemError) -> any DatagramTransport {
        try UVDatagrams.made(self, local: local, peer: peer, sharingPort: sharingPort)
    }

    func makeDatagramSocket(
        atPath path: SocketAddress, permissions: UInt32?, peer: SocketAddress?
    ) throws -> any DatagramTransport {
        try UnixSocket.bindDatagrams(path, permissions: permissions, to: peer, on: self)
    }

    func adoptOrphans(_ isAdopting: Bool) throws(SystemError) -> Bool {
        // If the processes cannot be listed, no orphan would be found.
        guard !isAdopting || ProcessGroup.all != nil else { throw SystemError(-ENOENT, "list processes") }
        return try OwnChildren.adopt(isAdopting)
    }

    func orphans() -> [Int32]? { OwnChildren.orphans() }

    func catchSignal(_ number: CInt, once: Bool) throws(SystemError) -> any SignalWatch {
        try UVSignal(self, number, once: once)
    }

    func runInPool(_ job: RemoteJob) {
        let (loop, id) = (job.loop, ObjectIdentifier(job))
        UVWork.start(job, on: self)
        job.whenEnded { if loop.isCurrent { UVWork.cancel(id, on: loop.uv) } }
    }

    var fileSystem: any FileSystem { SystemFiles() }

    func runOnDisk(_ job: RemoteJob) { FilePool.shared.run(job) }

    func makeFileEvents() throws(SystemError) -> any FileEventSource { try UVFileEvents.make(self) }

    var names: Any? { nil }

    func openStandardPipe(_ number: CInt) -> (any StreamCarrier)? { nil }

    func makeGroupLoop() -> (any GroupLoop)? { nil }

    func nameConfiguration(unless stamp: [Int]?) -> NameConfiguration? {
        NameFiles().read(unless: stamp)
    }

    var wallClock: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
