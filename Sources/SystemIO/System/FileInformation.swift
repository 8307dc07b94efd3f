public import FoundationEssentials

/// What a file is: a regular file, a directory, or something else.
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
    /// The permissions, with the bits for the user, the group and a sticky directory: 0 to 0o7777.
    public let permissions: UInt32
    /// The numbers of the user and of the group that own the file.
    public let owner: UInt32
    public let group: UInt32
    /// The number of names of the file. 0 if the last one was removed, or if it never had one.
    public let linkCount: UInt64
    /// The numbers of the file and of its file system. Two names are of the same file if both are equal.
    public let inode: UInt64
    public let device: UInt64
    /// When the file was last read, when its contents were last changed, and when anything of it was last changed.
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
    /// The name. Bytes that are no UTF-8 are in it as `String(systemBytes:)` has them. Two entries are equal if
    /// their names have the same bytes.
    public var name: String { path.description }
    /// The kind of the file. ``FileKind/unknown`` on file systems that do not tell.
    public let kind: FileKind
    /// The name as the system has it.
    package let path: RelativePath
    /// The number of the file, which is read together with the name.
    package let inode: UInt64

    package init(_ path: RelativePath, _ kind: FileKind, inode: UInt64) {
        self.path = path
        self.kind = kind
        self.inode = inode
    }

    public static func == (a: Self, b: Self) -> Bool { a.path == b.path && a.kind == b.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}
