internal import FoundationEssentials
internal import SystemIO

/// A file of any kind on a simulated disk: its state as programs see it, and the state that survives a loss of power.
struct Inode {
    /// A change of the contents that is not on the disk yet.
    enum Write {
        case bytes(Data, at: Int)
        case size(Int)
    }

    let kind: FileKind
    var permissions: UInt32
    var modified: Duration
    var changed: Duration
    /// The number of names, and the number of names on the disk. A file without a name lives while it is open.
    var linkCount = 0
    var safeLinkCount = 0
    var openCount = 0
    /// The number of open files with a name in this directory, plus the removed subdirectories that are still alive.
    var holders = 0
    /// The name of a directory. `nil` for the root, and once the directory is gone.
    var place: DiskName?
    /// Whether a file without a name may get its first one.
    var mayBeLinked = false

    /// The contents of a file, as programs read them.
    var contents = SparseBytes()
    /// The contents that are on the disk, and the changes that are not there yet.
    var safeContents = SparseBytes()
    var writes: [Write] = []
    /// The time of the first change of the contents that is not on the disk yet.
    var dirtySince: UInt64?

    /// The entries of a directory as programs see them, and the entries on the disk.
    var entries: [RelativePath: UInt64] = [:]
    var safeEntries: [RelativePath: UInt64] = [:]

    /// The target of a symlink.
    var target = ""
    /// The locks by the number of the open file. `true` stands for an exclusive lock.
    var locks: [UInt64: Bool] = [:]

    init(_ kind: FileKind, permissions: UInt32, at time: Duration) {
        (self.kind, self.permissions, modified, changed) = (kind, permissions, time, time)
    }

    var size: Int { kind == .symbolicLink ? target.systemBytes.count : contents.count }

    mutating func write(_ bytes: Data, at offset: Int) {
        contents.write(bytes, at: offset)
        writes.append(.bytes(bytes, at: offset))
    }

    mutating func resize(to size: Int) {
        contents.resize(to: size)
        writes.append(.size(size))
    }

    mutating func syncContents() {
        safeContents = contents
        (writes, dirtySince) = ([], nil)
    }

    /// The number of bytes that a disk writes atomically.
    private static let sector = 512

    /// Writes a random part of the pending changes to the disk: some sectors of each change, in any order.
    mutating func tear(_ random: inout SplitMix) {
        for write in writes {
            switch write {
            case .size(let size): if random.next() & 1 == 0 { safeContents.resize(to: size) }
            case .bytes(let bytes, let offset):
                var start = offset
                while start < offset + bytes.count {
                    let end = min((start / Self.sector + 1) * Self.sector, offset + bytes.count)
                    if random.next() & 1 == 0 {
                        let part = bytes.dropFirst(start - offset).prefix(end - start)
                        safeContents.write(Data(part), at: start)
                    }
                    start = end
                }
            }
        }
        (writes, dirtySince) = ([], nil)
    }
}
