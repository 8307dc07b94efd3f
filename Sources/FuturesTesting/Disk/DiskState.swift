internal import FoundationEssentials
internal import SystemIO

/// The state of a simulated disk. Each function is one atomic operation of the system.
struct DiskState {
    /// A change of names that is not on the disk yet. A rename is a single change, even across two directories.
    struct NameChange {
        var time: UInt64
        var removed: (directory: UInt64, name: RelativePath, inode: UInt64)?
        var added: (directory: UInt64, name: RelativePath, inode: UInt64)?
    }

    /// The kinds of operations that a disk performs.
    enum Operation: Hashable {
        case read, write, sync
    }

    static let root: UInt64 = 1
    /// The umask of the programs of the host.
    static let mask: UInt32 = 0o022

    var inodes: [UInt64: Inode] = [:]
    var lastNumber = root
    /// The changes of names that are not on the disk yet, in order.
    var nameChanges: [NameChange] = []
    /// The files that may have contents that are not on the disk yet.
    var dirty: Set<UInt64> = []
    /// The number of times that the disk has lost power. Handles that were opened earlier are invalid.
    var mount = 0
    /// The number of operations that still succeed before the power is lost. `nil` while there is power.
    var operationsLeft: Int?
    /// The time on the host's clock.
    var now: Duration = .zero
    /// The time of the simulation in nanoseconds, and the time of the last write-back.
    var time: UInt64 = 0
    private var lastWriteBack: UInt64 = 0
    var random = SplitMix(0)

    var capacity = Int.max
    /// The numbers of active faults that leave no space, and that make one in three operations fail.
    var shortages = 0
    var failures = 0
    /// The operations that always fail.
    var failing: Set<Operation> = []
    var events = DiskEvents()
    /// The open files, each with the name by which it was opened, and the open directories.
    var openFiles: [UInt64: DiskName?] = [:]
    /// The number of files and directories that may be open.
    var maxOpenFiles = Int.max

    init() {
        inodes[Self.root] = Inode(.directory, permissions: 0o755, at: .zero)
        inodes[Self.root]!.linkCount = 2
    }

    /// Begins an operation. Throws `EIO` if the disk fails.
    mutating func begin(_ operation: Operation, _ call: String, mount: Int) throws(SystemError) {
        guard mount == self.mount, operationsLeft != 0 else { throw SystemError(.inputOutput, call) }
        if let left = operationsLeft { operationsLeft = left - 1 }
        let fails = failing.contains(operation) || failures > 0 && random.below(3) == 0
        guard !fails else { throw SystemError(.inputOutput, call) }
    }

    mutating func make(_ kind: FileKind, permissions: UInt32) -> UInt64 {
        lastNumber += 1
        inodes[lastNumber] = Inode(kind, permissions: permissions, at: now)
        return lastNumber
    }

    /// The largest size of a file, as in ext4.
    static let largestFile = (1 << 44) - 4096

    var usedBytes: Int { inodes.values.reduce(0) { $0 + $1.contents.storedCount } }

    func needSpace(_ count: Int, _ call: String) throws(SystemError) {
        guard count > 0 else { return }
        guard shortages == 0, capacity == .max || usedBytes + count <= capacity else {
            throw SystemError(.noSpace, call)
        }
    }

    /// Throws an error if `path` is too long, or if no descriptor is left to open it.
    func needDescriptor(for path: RelativePath, _ call: String) throws(SystemError) {
        try Self.checkLength(of: path, call)
        guard openFiles.count < maxOpenFiles else { throw SystemError(.tooManyOpenFiles, call) }
    }

    func information(_ number: UInt64) -> FileInformation {
        let inode = inodes[number]!
        func date(_ time: Duration) -> Date { Date(timeIntervalSince1970: time / .seconds(1)) }
        return FileInformation(
            kind: inode.kind, size: inode.size, allocatedSize: (inode.contents.storedCount + 511) / 512 * 512,
            permissions: inode.permissions, owner: 0, group: 0, linkCount: UInt64(inode.linkCount),
            inode: number, device: 1, accessed: date(inode.modified), modified: date(inode.modified),
            changed: date(inode.changed))
    }

    // MARK: A loss of power

    /// Keeps what is on the disk. Chance decides which other changes survive.
    mutating func losePower() {
        for change in nameChanges where random.next() & 1 == 0 { apply(change) }
        nameChanges = []
        for number in inodes.keys.sorted() where inodes[number]!.kind == .regularFile {
            inodes[number]!.tear(&random)
        }
        mount += 1
        (openFiles, dirty) = ([:], [])
        operationsLeft = nil
        events = DiskEvents()
        forgetWhatIsLost()
    }

    /// Applies a change of names to the disk.
    mutating func apply(_ change: NameChange) {
        if let (directory, name, inode) = change.removed, inodes[directory]?.safeEntries[name] == inode {
            setSafeEntry(name, of: directory, to: nil)
        }
        if let (directory, name, inode) = change.added { setSafeEntry(name, of: directory, to: inode) }
    }

    private mutating func setSafeEntry(_ name: RelativePath, of directory: UInt64, to inode: UInt64?) {
        guard inodes[directory] != nil else { return }
        let old = inodes[directory]!.safeEntries[name]
        inodes[directory]!.safeEntries[name] = inode
        if let inode { inodes[inode]?.safeLinkCount += 1 }
        guard let old else { return }
        inodes[old]?.safeLinkCount -= 1
        freeIfUnused(old)
    }

    /// Resets the visible state to the state on the disk, and removes files without a name.
    private mutating func forgetWhatIsLost() {
        var counts: [UInt64: Int] = [Self.root: 1]
        var line = [Self.root]
        while let directory = line.popLast() {
            let entries = inodes[directory]!.safeEntries.sorted {
                $0.key.bytes.lexicographicallyPrecedes($1.key.bytes)
            }
            for (name, child) in entries where inodes[child] != nil {
                if inodes[child]!.kind == .directory {
                    // After two renames, of which only the last survives, it would have two names.
                    guard counts[child] == nil else {
                        inodes[directory]!.safeEntries[name] = nil
                        continue
                    }
                    line.append(child)
                }
                counts[child, default: 0] += 1
            }
        }
        for number in inodes.keys {
            guard let count = counts[number] else {
                inodes[number] = nil
                continue
            }
            inodes[number]!.linkCount = count
            inodes[number]!.safeLinkCount = count
            (inodes[number]!.openCount, inodes[number]!.holders) = (0, 0)
            inodes[number]!.locks = [:]
            inodes[number]!.entries = inodes[number]!.safeEntries
            inodes[number]!.contents = inodes[number]!.safeContents
        }
        for number in inodes.keys {
            inodes[number]!.entries = inodes[number]!.entries.filter { inodes[$0.value] != nil }
            inodes[number]!.safeEntries = inodes[number]!.entries
            guard inodes[number]!.kind == .directory else { continue }
            for (name, child) in inodes[number]!.entries where inodes[child]!.kind == .directory {
                inodes[child]!.place = DiskName(directory: number, name: name)
            }
            inodes[number]!.linkCount =
                2 + inodes[number]!.entries.values.count { inodes[$0]!.kind == .directory }
        }
    }

    /// Writes everything to the disk.
    mutating func syncAll() {
        applyNameChanges { _ in true }
        for number in dirty { inodes[number]?.syncContents() }
        dirty = []
    }

    /// Writes the changes of names that `isDue` accepts to the disk.
    mutating func applyNameChanges(where isDue: (NameChange) -> Bool) {
        let changes = nameChanges
        nameChanges = changes.filter { !isDue($0) }
        for change in changes where isDue(change) { apply(change) }
    }

    /// Writes changes that are 30 s old to the disk, as systems do by themselves. Checks every 5 s.
    mutating func writeBack() {
        let (age, interval): (UInt64, UInt64) = (30_000_000_000, 5_000_000_000)
        guard time >= lastWriteBack + interval else { return }
        lastWriteBack = time
        let time = time
        applyNameChanges { $0.time + age <= time }
        for number in dirty {
            if let since = inodes[number]?.dirtySince, since + age > time { continue }
            inodes[number]?.syncContents()
            dirty.remove(number)
        }
    }
}

extension DiskState {
    /// After a failure, lets chance decide which writes of a file are on the disk.
    mutating func giveUpWrites(of number: UInt64) {
        guard inodes[number] != nil, operationsLeft != 0 else { return }
        inodes[number]!.tear(&random)
    }
}
