/// An entry of a directory tree.
public struct TreeEntry: Hashable, Sendable {
    /// The path below the directory where the walk began. Bytes that are not UTF-8 are encoded as by
    /// `String(systemBytes:)`. Two entries are equal if their paths have the same bytes.
    public var path: String { name.description }
    public let kind: FileKind
    /// The number of directories between the entry and the one where the walk began.
    public let depth: Int
    /// The path as the system has it.
    private let name: RelativePath

    init(_ path: RelativePath, _ kind: FileKind, depth: Int) {
        (name, self.kind, self.depth) = (path, kind, depth)
    }
}

/// The error of an operation with a directory tree that exceeds one of its limits.
public enum TreeError: Error, Hashable, Sendable {
    /// A directory is more levels down than `limit`.
    case tooDeep(path: String, limit: Int)
    /// The tree has more than `limit` entries.
    case tooManyEntries(limit: Int)
}

extension TreeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooDeep(let path, let limit):
            "the directory \(path) is more than \(limit) levels down; give a higher maxDepth"
        case .tooManyEntries(let limit):
            "the tree has more than \(limit) entries; give a higher maxEntries, or walk its parts"
        }
    }
}

/// A directory on the way down a tree, with its entries that are left to process.
struct TreeLevel {
    let directory: any DirectoryHandle
    /// The path from where the walk began. `nil` for the directory where it began.
    let path: RelativePath?
    /// How often the directory was not empty after all its entries had been removed.
    var failures = 0
    private var listing: any DirectoryListing
    /// The last portion, in reverse order.
    private var entries: [DirectoryEntry] = []

    init(_ directory: any DirectoryHandle, _ path: RelativePath?) throws(SystemError) {
        self.directory = directory
        self.path = path
        listing = try directory.makeListing()
    }

    /// Returns the next entry. A directory that others have removed meanwhile has none left.
    mutating func next() throws(SystemError) -> DirectoryEntry? {
        if entries.isEmpty {
            do throws(SystemError) {
                entries = try listing.next().reversed()
            } catch {
                guard error.code == .notFound, path != nil else { throw error }
            }
        }
        return entries.popLast()
    }

    mutating func restart() throws(SystemError) {
        entries = []
        listing = try directory.makeListing()
    }

    func path(of entry: RelativePath) -> RelativePath { path?.appending(entry) ?? entry }
}
