internal import SystemIO

extension DiskState {
    mutating func add(_ inode: UInt64, as name: RelativePath, to directory: UInt64) {
        inodes[directory]!.entries[name] = inode
        if inodes[inode]!.kind == .directory {
            inodes[inode]!.linkCount = 2
            inodes[directory]!.linkCount += 1
            inodes[inode]!.place = DiskName(directory: directory, name: name)
        } else {
            inodes[inode]!.linkCount += 1
        }
        namesChanged(in: directory, of: inode)
        nameChanges.append(NameChange(time: time, added: (directory, name, inode)))
        events.add(.created, directory, name, isDirectory: inodes[inode]!.kind == .directory)
    }

    private mutating func namesChanged(in directory: UInt64, of inode: UInt64) {
        (inodes[directory]!.modified, inodes[directory]!.changed) = (now, now)
        inodes[inode]!.changed = now
    }

    mutating func remove(
        _ name: RelativePath, from directory: UInt64, isDirectory: Bool, _ call: String
    ) throws(SystemError) {
        guard let inode = try lookUp(name, in: directory, call) else { throw SystemError(.notFound, call) }
        let file = inodes[inode]!
        if isDirectory {
            guard file.kind == .directory else { throw SystemError(.notDirectory, call) }
            guard file.entries.isEmpty else { throw SystemError(.directoryNotEmpty, call) }
        } else if file.kind == .directory {
            throw SystemError(.isDirectory, call)
        }
        inodes[directory]!.entries[name] = nil
        nameChanges.append(NameChange(time: time, removed: (directory, name, inode)))
        events.add(.deleted, directory, name, isDirectory: isDirectory)
        unlink(inode, name, from: directory)
    }

    private mutating func unlink(_ inode: UInt64, _ name: RelativePath, from directory: UInt64) {
        namesChanged(in: directory, of: inode)
        nameChanged(of: inode, name, in: directory)
        if inodes[inode]!.kind == .directory {
            inodes[inode]!.linkCount = 0
            inodes[directory]!.linkCount -= 1
            hold(directory)
        } else {
            inodes[inode]!.linkCount -= 1
        }
        freeIfUnused(inode)
    }

    mutating func rename(
        _ name: RelativePath, in directory: UInt64, to newName: RelativePath, in target: UInt64,
        replacing: Bool
    ) throws(SystemError) {
        guard let inode = try lookUp(name, in: directory, "rename") else {
            throw SystemError(.notFound, "rename")
        }
        let isDirectory = inodes[inode]!.kind == .directory
        let old = try lookUp(newName, in: target, "rename")
        guard old == nil || replacing else { throw SystemError(.alreadyExists, "rename") }
        if isDirectory, isBelow(target, inode) { throw SystemError(.invalidArgument, "rename") }
        if let old {
            guard !isBelow(directory, old) else { throw SystemError(.directoryNotEmpty, "rename") }
            if old == inode { return }
            let isOldDirectory = inodes[old]!.kind == .directory
            guard isOldDirectory == isDirectory else {
                throw SystemError(isOldDirectory ? .isDirectory : .notDirectory, "rename")
            }
            guard inodes[old]!.entries.isEmpty else { throw SystemError(.directoryNotEmpty, "rename") }
        }
        inodes[directory]!.entries[name] = nil
        inodes[target]!.entries[newName] = inode
        namesChanged(in: directory, of: inode)
        namesChanged(in: target, of: inode)
        let place = DiskName(directory: target, name: newName)
        if isDirectory {
            inodes[directory]!.linkCount -= 1
            inodes[target]!.linkCount += 1
            inodes[inode]!.place = place
        }
        nameChanges.append(
            NameChange(time: time, removed: (directory, name, inode), added: (target, newName, inode)))
        events.addRename(directory, name, target, newName, isDirectory: isDirectory)
        if isDirectory { events.add(.selfMoved, inode, nil) }
        if let old {
            if isDirectory { events.add(.attributes, old, nil, isDirectory: true) }
            unlink(old, newName, from: target)
        }
        if !isDirectory { nameChanged(of: inode, name, in: directory, to: place) }
    }

    private func isBelow(_ directory: UInt64, _ other: UInt64) -> Bool {
        directory == other || inodes[directory]!.place.map { isBelow($0.directory, other) } ?? false
    }

    /// Writes the names of a directory to the disk.
    mutating func syncNames(of directory: UInt64) {
        applyNameChanges { $0.removed?.directory == directory || $0.added?.directory == directory }
    }
}
