internal import UVFutures

extension DiskState {
    /// The most links that a path may lead through.
    private static var mostLinks: Int { 40 }

    /// Follows `path` from `directory`. Returns the directory of the last component, its name, and its inode if there is
    /// one. With `staysBelow`, a path that leaves `directory` throws `EXDEV`.
    func find(
        _ path: RelativePath, from directory: UInt64, followsLink: Bool, staysBelow: Bool, _ call: String
    ) throws(UVError) -> (directory: UInt64, name: RelativePath, inode: UInt64?) {
        var rest = Array(path.components.reversed())
        var way: [UInt64] = [directory]
        var links = 0
        var last: (directory: UInt64, name: RelativePath, inode: UInt64?) = (directory, .here, directory)
        while let name = rest.popLast() {
            let current = way.last!
            guard inodes[current]?.kind == .directory else { throw UVError(.notDirectory, call) }
            if name.isParent {
                guard way.count > 1 else {
                    if staysBelow { throw UVError(.crossesDirectory, call) }
                    continue
                }
                way.removeLast()
                last = (way.last!, .here, way.last!)
                continue
            }
            guard let inode = inodes[current]!.entries[name] else {
                guard rest.isEmpty else { throw UVError(.notFound, call) }
                return (current, name, nil)
            }
            if inodes[inode]!.kind == .symbolicLink, followsLink || !rest.isEmpty {
                links += 1
                guard links <= Self.mostLinks else { throw UVError(.tooManyLinks, call) }
                let target = RelativePath(checked: inodes[inode]!.target)
                if target.isAbsolute {
                    guard !staysBelow else { throw UVError(.crossesDirectory, call) }
                    way = [Self.root]
                    last = (Self.root, .here, Self.root)
                }
                rest += target.components.reversed()
                continue
            }
            last = (current, name, inode)
            way.append(inode)
        }
        return last
    }

    mutating func add(_ inode: UInt64, as name: RelativePath, to directory: UInt64) {
        inodes[directory]!.entries[name] = inode
        inodes[directory]!.modified = now
        inodes[inode]!.linkCount += 1
        nameChanges.append(NameChange(time: time, added: (directory, name, inode)))
        events.add(.created, directory, name, isDirectory: inodes[inode]!.kind == .directory)
    }

    mutating func remove(
        _ name: RelativePath, from directory: UInt64, isDirectory: Bool, _ call: String
    ) throws(UVError) {
        guard let inode = inodes[directory]!.entries[name] else { throw UVError(.notFound, call) }
        let file = inodes[inode]!
        if isDirectory {
            guard file.kind == .directory else { throw UVError(.notDirectory, call) }
            guard file.entries.isEmpty else { throw UVError(.directoryNotEmpty, call) }
        } else if file.kind == .directory {
            throw UVError(.isDirectory, call)
        }
        inodes[directory]!.entries[name] = nil
        inodes[directory]!.modified = now
        nameChanges.append(NameChange(time: time, removed: (directory, name, inode)))
        events.add(.deleted, directory, name, isDirectory: isDirectory)
        unlink(inode)
    }

    private mutating func unlink(_ inode: UInt64) {
        inodes[inode]!.linkCount -= 1
        freeIfUnused(inode)
    }

    mutating func rename(
        _ name: RelativePath, in directory: UInt64, to newName: RelativePath, in target: UInt64,
        replacing: Bool
    ) throws(UVError) {
        guard let inode = inodes[directory]!.entries[name] else { throw UVError(.notFound, "rename") }
        let isDirectory = inodes[inode]!.kind == .directory
        let old = inodes[target]!.entries[newName]
        if let old {
            guard replacing else { throw UVError(.alreadyExists, "rename") }
            if old == inode { return }
            let isOldDirectory = inodes[old]!.kind == .directory
            guard isOldDirectory == isDirectory else {
                throw UVError(isOldDirectory ? .isDirectory : .notDirectory, "rename")
            }
            guard inodes[old]!.entries.isEmpty else { throw UVError(.directoryNotEmpty, "rename") }
        }
        if isDirectory, isBelow(target, inode) { throw UVError(.invalidArgument, "rename") }
        inodes[directory]!.entries[name] = nil
        inodes[target]!.entries[newName] = inode
        (inodes[directory]!.modified, inodes[target]!.modified) = (now, now)
        nameChanges.append(
            NameChange(time: time, removed: (directory, name, inode), added: (target, newName, inode)))
        events.addRename(directory, name, target, newName, isDirectory: isDirectory)
        events.add(.selfMoved, inode, nil, isDirectory: isDirectory)
        if let old { unlink(old) }
    }

    private func isBelow(_ directory: UInt64, _ other: UInt64) -> Bool {
        directory == other
            || inodes[other]!.entries.values.contains {
                inodes[$0]!.kind == .directory && isBelow(directory, $0)
            }
    }

    /// The directory above a directory, and the name there. `nil` for the root, and for a directory that was removed.
    func place(of directory: UInt64) -> (above: UInt64, name: RelativePath)? {
        for (above, inode) in inodes {
            if let entry = inode.entries.first(where: { $0.value == directory }) { return (above, entry.key) }
        }
        return nil
    }

    /// Puts the names of a directory on the disk.
    mutating func syncNames(of directory: UInt64) {
        applyNameChanges { $0.removed?.directory == directory || $0.added?.directory == directory }
    }
}
