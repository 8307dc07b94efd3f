internal import Glibc
internal import SystemIO

extension DiskState {
    /// The largest number of symlinks that a path may follow, and the largest lengths of a path and of a name in bytes.
    private static var mostLinks: Int { 40 }
    private static var longestPath: Int { 4095 }
    private static var longestName: Int { 255 }

    /// Follows `path` from the root, or from `directory`. Returns the directory of the last component, its name, and its
    /// inode if it exists. A path that leaves `directory` throws `EXDEV`. With `makesFile`, a trailing slash throws
    /// `EISDIR`.
    func find(
        _ path: RelativePath, below directory: UInt64? = nil, followsLink: Bool, makesFile: Bool = false,
        _ call: String
    ) throws(SystemError) -> (directory: UInt64, name: RelativePath, inode: UInt64?) {
        try Self.checkLength(of: path, call)
        var rest = path.steps
        let start = directory ?? Self.root
        var way = [start]
        var links = 0
        var last: (directory: UInt64, name: RelativePath, inode: UInt64?) = (start, .here, start)
        while let name = rest.popLast() {
            let current = way.last!
            guard inodes[current]?.kind == .directory else { throw SystemError(.notDirectory, call) }
            if name.isHere { continue }
            if name.isParent {
                guard way.count > 1 else {
                    if directory != nil { throw SystemError(.crossesDirectory, call) }
                    continue
                }
                way.removeLast()
                last = (way.last!, .here, way.last!)
                continue
            }
            if makesFile, rest.count == 1, rest[0].bytes.isEmpty { throw SystemError(.isDirectory, call) }
            guard let inode = try lookUp(name, in: current, call) else {
                guard rest.isEmpty else { throw SystemError(.notFound, call) }
                return (current, name, nil)
            }
            if inodes[inode]!.kind == .symbolicLink, followsLink || !rest.isEmpty {
                links += 1
                guard links <= Self.mostLinks else { throw SystemError(.tooManyLinks, call) }
                let target = RelativePath(checked: inodes[inode]!.target)
                if target.isAbsolute {
                    guard directory == nil else { throw SystemError(.crossesDirectory, call) }
                    way = [Self.root]
                    last = (Self.root, .here, Self.root)
                }
                rest += target.steps
                continue
            }
            last = (current, name, inode)
            way.append(inode)
        }
        return last
    }

    /// Returns the inode of an entry, or `nil` if there is no such entry. Throws `ENOENT` if the directory has been
    /// removed.
    func lookUp(_ name: RelativePath, in directory: UInt64, _ call: String) throws(SystemError) -> UInt64? {
        try Self.checkLength(of: name, call)
        guard inodes[directory]!.linkCount > 0 else { throw SystemError(.notFound, call) }
        guard name.bytes.count <= Self.longestName else {
            throw SystemError(SystemError.Code(rawValue: -ENAMETOOLONG), call)
        }
        return inodes[directory]!.entries[name]
    }

    static func checkLength(of path: RelativePath, _ call: String) throws(SystemError) {
        guard path.bytes.count <= longestPath else {
            throw SystemError(SystemError.Code(rawValue: -ENAMETOOLONG), call)
        }
    }
}

extension RelativePath {
    /// The components in reverse order. A trailing slash is a component without bytes.
    fileprivate var steps: [RelativePath] {
        let slash = UInt8(ascii: "/")
        let names = bytes.split(separator: slash) + (bytes.last == slash ? [[]] : [])
        return names.reversed().map { RelativePath(bytes: Array($0)) }
    }

    /// Whether the component stays in its directory. Only a directory can have such a component.
    fileprivate var isHere: Bool { bytes.isEmpty || self == .here }
}
