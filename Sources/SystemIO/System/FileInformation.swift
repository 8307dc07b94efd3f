public import FoundationEssentials

/// The kind of a file: a regular file, a directory, or something else.
public enum FileKind: Hashable, Sendable {
    case regularFile, directory, symbolicLink, fifo, socket, characterDevice, blockDevice
    /// The file system does not say.
    case unknown
}

/// A description of a file, as the system gave it at one moment.
public struct FileInformation: Hashable, Sendable {
    public let kind: FileKind
    /// The number of bytes of a regular file, or of the path in a symbolic link.
    public let size: Int
    /// The number of bytes that the file takes on the disk.
    public let allocatedSize: Int
    /// The permissions, with the set-user-ID, set-group-ID and sticky bits: 0 to 0o7777.
    public let permissions: UInt32
    /// The numbers of the user and of the group that own the file.
    public let owner: UInt32
    public let group: UInt32
    /// The number of names of the file. 0 if the last name was removed, or if the file never had one.
    public let linkCount: UInt64
    /// The numbers of the file and of its file system. Two names belong to the same file if both numbers are equal.
    public let inode: UInt64
    public let device: UInt64
    /// The times when the file was last read, when its contents last changed, and when anything about it last changed.
    public let accessed: Date
    public let modified: Date
    public let changed: Date

    package init(
        kind: FileKind, size: Int, allocatedSize: Int, permissions: UInt32, owner: UInt32, group: UInt32,
        linkCount: UInt64, inode: UInt64, device: UInt64, accessed: Date, modified: Date, changed: Date
    ) {
        self.kind = kind
        self.size = size
        self.allocatedSize = allocatedSize
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.linkCount = linkCount
        self.inode = inode
        self.device = device
        self.accessed = accessed
        self.modified = modified
        self.changed = changed
    }
}

/// An entry of a directory: a name, and the kind of the file that has it.
public struct DirectoryEntry: Hashable, Sendable {
    /// The name. Bytes that are not UTF-8 are encoded as by `String(systemBytes:)`. Two entries are equal if their
    /// names have the same bytes.
    public var name: String { path.description }
    /// The kind of the file. ``FileKind/unknown`` on file systems that do not say.
    public let kind: FileKind
    /// The name as the system has it.
    package let path: RelativePath
    /// The inode number of the file, which is read together with the name.
    package let inode: UInt64

    package init(_ path: RelativePath, _ kind: FileKind, inode: UInt64) {
        self.path = path
        self.kind = kind
        self.inode = inode
    }

    public static func == (a: Self, b: Self) -> Bool { a.path == b.path && a.kind == b.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}
