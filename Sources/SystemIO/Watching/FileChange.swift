/// A change that a ``FileWatch`` reports.
///
/// Two changes are equal if their paths have the same bytes.
public struct FileChange: Hashable, Sendable {
    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// A new file, symlink or directory exists.
        case created
        /// The contents have changed, or another file has taken the name.
        case modified
        /// The permissions, the owner or the times have changed, but not the contents.
        case attributes
        /// The file or directory no longer exists. Everything below a directory is gone with it.
        case removed
        /// The file or directory was renamed from the path `from`. Everything below a directory moved with it. The
        /// contents may have changed, too.
        case moved(from: String)
        /// More has changed than can be reported. Examine again everything that you watch.
        case lookAgain
    }

    /// The path, relative to the watched directory. For a watch of a file, the name of the file. Empty for
    /// ``Kind/lookAgain``. Bytes that are not UTF-8 are encoded as by `String(systemBytes:)`.
    public let path: String
    public let kind: Kind

    public init(path: String, kind: Kind) {
        self.path = path
        self.kind = kind
    }

    public static func == (a: FileChange, b: FileChange) -> Bool {
        a.kind == b.kind && a.path.utf8.elementsEqual(b.path.utf8)
    }
}

extension FileChange.Kind {
    public static func == (a: FileChange.Kind, b: FileChange.Kind) -> Bool {
        switch (a, b) {
        case (.created, .created), (.modified, .modified), (.attributes, .attributes): true
        case (.removed, .removed), (.lookAgain, .lookAgain): true
        case (.moved(let a), .moved(let b)): a.utf8.elementsEqual(b.utf8)
        default: false
        }
    }
}

extension FileChange: CustomStringConvertible {
    /// The change in one line, such as `modified etc/app.conf`.
    public var description: String {
        switch kind {
        case .created: "created \(path)"
        case .modified: "modified \(path)"
        case .attributes: "attributes of \(path)"
        case .removed: "removed \(path)"
        case .moved(let from): "moved \(from) to \(path)"
        case .lookAgain: "look again"
        }
    }
}
