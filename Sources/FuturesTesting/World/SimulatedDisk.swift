public import FoundationEssentials
public import Futures
internal import SystemIO

/// The disk of a ``SimulatedHost``, which `Directory`, `File` and `FileWatch` use on the loops of the host. It is a
/// single file system: nothing can be mounted in it, and two names cannot be exchanged. The sockets of the UNIX domain
/// are files on it. Initially it has the empty directories `/run` and `/tmp`.
///
/// A loss of power (``SimulatedHost/crash()``) loses what was not synchronised. Each unsynchronised sector of 512 bytes
/// may or may not be on the disk. Each created, removed or renamed entry may or may not survive. An operation in
/// progress is cut off between two of its system calls. Synchronised data survives, and is still there after
/// ``SimulatedHost/restart()``. Data written more than 35 s before survives, too. After ``SimulatedHost/kill()``,
/// everything stays.
///
/// A test may read and change the disk at any time. What a test writes is on the disk at once.
public final class SimulatedDisk {
    let store = DiskStore()
    private unowned let host: SimulatedHost
    /// The time that each operation takes. By default 50 to 200 microseconds in a world, and no time on a virtual loop.
    /// Traps if a time in it is negative.
    public var latency = World.Latency.none { didSet { latency.check() } }
    /// The extra time that faults add to each operation.
    var delay: UInt64 = 0
    /// The operations in progress.
    private var jobs: [UInt64: RemoteJob] = [:]

    init(of host: SimulatedHost) {
        self.host = host
        store.with { state in
            for (name, permissions) in [("run", 0o755), ("tmp", 0o1777)] as [(String, UInt32)] {
                let directory = state.make(.directory, permissions: permissions)
                state.add(directory, as: RelativePath(checked: name), to: DiskState.root)
            }
            state.syncAll()
        }
    }

    /// The capacity of the disk in bytes. A write that needs more space fails with `SystemError.Code.noSpace`. Traps if
    /// the capacity is negative.
    public var capacity: Int {
        get { store.with { $0.capacity } }
        set {
            if newValue < 0 { fatalError("The capacity of a disk was set to \(newValue); give 0 or more.") }
            store.with { $0.capacity = newValue }
        }
    }

    /// Whether all reads, all writes or all synchronisations fail with `SystemError.Code.inputOutput`.
    public var failsReads: Bool {
        get { store.with { $0.failing.contains(.read) } }
        set { setFails(.read, newValue) }
    }
    public var failsWrites: Bool {
        get { store.with { $0.failing.contains(.write) } }
        set { setFails(.write, newValue) }
    }
    public var failsSyncs: Bool {
        get { store.with { $0.failing.contains(.sync) } }
        set { setFails(.sync, newValue) }
    }

    private func setFails(_ operation: DiskState.Operation, _ fails: Bool) {
        store.with { if fails { $0.failing.insert(operation) } else { $0.failing.remove(operation) } }
    }

    // MARK: Access by a test

    /// Writes a file, and creates missing parent directories. Everything is synchronised.
    public func write(_ path: String, _ contents: Data) {
        change { state in
            let (directory, name) = state.makeParents(of: path)
            var file = state.inodes[directory]!.entries[name]
            if file == nil {
                file = state.make(.regularFile, permissions: 0o644)
                state.add(file!, as: name, to: directory)
            }
            state.inodes[file!]!.resize(to: 0)
            state.inodes[file!]!.write(contents, at: 0)
            state.touched(file!, by: DiskName(directory: directory, name: name))
        }
    }

    /// Writes `text` as UTF-8. Otherwise behaves like ``write(_:_:)-(String,Data)``.
    public func write(_ path: String, _ text: String) { write(path, Data(text.utf8)) }

    /// Creates a directory, and its missing parent directories.
    public func makeDirectory(_ path: String) {
        change { state in _ = state.makeParents(of: path + "/-") }
    }

    /// Removes a file, a symlink or a directory with all its contents. Does nothing if `path` does not exist.
    public func remove(_ path: String) {
        change { state in
            guard let found = state.found(path, followsLink: false), let inode = found.inode,
                inode != DiskState.root
            else {
                return
            }
            state.removeAll(inode, found.name, from: found.directory)
        }
    }

    /// Renames a file, a symlink or a directory, as a program of the host could. Traps if `path` does not exist.
    public func rename(_ path: String, to newPath: String) {
        change { state in
            let (target, name) = state.makeParents(of: newPath)
            guard let found = state.found(path, followsLink: false), found.inode != nil,
                (try? state.rename(found.name, in: found.directory, to: name, in: target, replacing: true))
                    != nil
            else {
                fatalError(
                    "A test cannot rename \(path) to \(newPath) on the disk of a host. Give a path that "
                        + "exists, and a new one that it can replace.")
            }
        }
    }

    /// The contents of a file, as programs of the host read them. `nil` if the file does not exist.
    public func contents(of path: String) -> Data? {
        store.with { state in
            state.found(path)?.inode.flatMap { state.inodes[$0] }.flatMap {
                $0.kind == .regularFile ? $0.contents.all : nil
            }
        }
    }

    /// The names in a directory, sorted. Empty if the directory does not exist.
    public func names(in path: String) -> [String] {
        store.with { state in
            let inode = state.found(path)?.inode.flatMap { state.inodes[$0] }
            return inode?.entries.keys.map(\.description).sorted() ?? []
        }
    }

    private func change(_ body: (inout DiskState) -> Void) {
        store.with { state in
            update(&state)
            body(&state)
            state.syncAll()
        }
        tellChanges()
    }

    // MARK: Access by the host

    /// Makes chance decide what happens on the disk, with the random numbers of `random`.
    func prepare(_ random: SplitMix) {
        store.with { $0.random = random }
        latency = .uniform(.microseconds(50)...(.microseconds(200)))
    }

    /// Runs `job` after the latency of the operation.
    func run(_ job: RemoteJob) {
        guard job.isWaiting else { return job.cancel() }
        let number = host.simulation.nextNumber()
        let time = latency.draw(&host.simulation.choices).addingSaturated(delay)
        jobs[number] = job
        host.simulation.call(after: .nanoseconds(Int64(clamping: time))) { [weak self] in
            guard let self, let job = jobs.removeValue(forKey: number) else { return }
            perform(job)
        }
    }

    private func perform(_ job: RemoteJob) {
        store.with { state in
            update(&state)
            state.writeBack()
        }
        job.run()
        tellChanges()
    }

    /// Runs a system call that the loop makes itself, on the path of a socket. It takes no time.
    func atOnce<Value: Sendable>(
        _ body: (inout DiskState) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        defer { tellChanges() }
        return try store.with { state throws(SystemError) in
            update(&state)
            return try body(&state)
        }
    }

    private func update(_ state: inout DiskState) {
        (state.now, state.time) = (host.wallClock, host.simulation.now)
        state.maxOpenFiles = host.maxOpenFiles
    }

    private func tellChanges() {
        let ready = store.with { $0.events.ready }
        guard !ready.isEmpty else { return }
        for case let events as SimulatedFileEvents in host.drivers.flatMap(\.openObjects)
        where ready.contains(events.number) {
            events.lookSoon()
        }
    }

    /// Cuts off the operations in progress, because the program has ended or the power is lost.
    func interrupt(losingPower: Bool) {
        if !jobs.isEmpty { host.note("has \(jobs.count) disk operations cut off") }
        for number in jobs.keys.sorted() {
            let job = jobs.removeValue(forKey: number)!
            store.with { state in
                update(&state)
                state.operationsLeft = state.random.below(8)
            }
            job.run()
        }
        store.with { state in
            state.operationsLeft = nil
            if losingPower { state.losePower() }
        }
    }

    /// Drops the operations in progress, because the simulation ends.
    func end() { jobs = [:] }
}

extension EventLoop {
    /// The disk of a virtual loop, or of the host of a loop in a world. On a virtual loop, operations take no time.
    ///
    /// Traps if the loop runs in real time.
    public var simulatedDisk: SimulatedDisk { simulatedHost("simulatedDisk").disk }
}

extension DiskState {
    func found(
        _ path: String, followsLink: Bool = true
    ) -> (directory: UInt64, name: RelativePath, inode: UInt64?)? {
        try? find(RelativePath(checked: path), followsLink: followsLink, "open")
    }

    /// Creates the missing parent directories of `path`. Returns the last of them, and the last component.
    mutating func makeParents(of path: String) -> (directory: UInt64, name: RelativePath) {
        var components = RelativePath(checked: path).components
        guard let last = components.popLast(), !last.isParent else {
            fatalError("A test gave the path \"\(path)\", which does not end with the name of a file.")
        }
        var way: [UInt64] = [Self.root]
        for name in components {
            let directory = way.last!
            if name.isParent {
                if way.count > 1 { way.removeLast() }
            } else if let next = inodes[directory]!.entries[name] {
                guard inodes[next]!.kind == .directory else {
                    fatalError(
                        "A test gave the path \(path), but \(name) in it is not a directory on the disk of a host."
                    )
                }
                way.append(next)
            } else {
                let next = make(.directory, permissions: 0o755)
                add(next, as: name, to: directory)
                way.append(next)
            }
        }
        return (way.last!, last)
    }

    mutating func removeAll(_ inode: UInt64, _ name: RelativePath, from directory: UInt64) {
        let isDirectory = inodes[inode]!.kind == .directory
        for (child, number) in inodes[inode]!.entries.sorted(by: { $0.value < $1.value }) {
            removeAll(number, child, from: inode)
        }
        try? remove(name, from: directory, isDirectory: isDirectory, "remove")
    }
}
