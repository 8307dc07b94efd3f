internal import UVFutures

/// A name of a file or a directory, as it is by now, or as it was when it was removed.
struct DiskName {
    var directory: UInt64
    var name: RelativePath
    var isRemoved = false
}

extension DiskState {
    /// Notes that a directory is open, or a file by the name `name`. Returns a number that no other open file has.
    mutating func opened(_ number: UInt64, by name: DiskName? = nil) -> UInt64 {
        inodes[number]!.openCount += 1
        lastNumber += 1
        openFiles[lastNumber] = .some(name)
        if let name { hold(name.directory) }
        return lastNumber
    }

    /// Notes that an open file has been closed. A second call does nothing.
    mutating func closed(_ number: UInt64, open: UInt64) {
        guard let name = openFiles.removeValue(forKey: open) else { return }
        inodes[number]!.openCount -= 1
        inodes[number]!.locks[open] = nil
        freeIfUnused(number)
        if let name { release(name.directory) }
    }

    /// Lets the open files that have the name `name` have another one, or none.
    mutating func nameChanged(
        of inode: UInt64, _ name: RelativePath, in directory: UInt64, to newName: DiskName? = nil
    ) {
        guard inodes[inode]!.openCount > 0 else { return }
        for case (let open, let old?) in openFiles
        where old.directory == directory && old.name == name && !old.isRemoved {
            guard let newName else {
                openFiles[open]!!.isRemoved = true
                continue
            }
            openFiles[open] = newName
            hold(newName.directory)
            release(directory)
        }
    }

    /// Keeps a removed directory from its end, as an open file does whose name was in it.
    mutating func hold(_ directory: UInt64) { inodes[directory]!.holders += 1 }

    private mutating func release(_ directory: UInt64) {
        // A loss of power forgets all of them.
        guard inodes[directory] != nil else { return }
        inodes[directory]!.holders -= 1
        freeIfUnused(directory)
    }

    mutating func freeIfUnused(_ number: UInt64) {
        guard let inode = inodes[number], inode.linkCount == 0, inode.openCount == 0, inode.holders == 0
        else { return }
        events.deleted(number)
        if let place = inodes[number]!.place.take() { release(place.directory) }
        // As long as the disk has a name of it, or may get one, a loss of power may bring it back.
        guard inode.safeLinkCount == 0, !nameChanges.contains(where: { $0.added?.inode == number }) else {
            return
        }
        inodes[number] = nil
    }

    /// Notes that the contents or the permissions of a file have changed, and tells it by `name`.
    mutating func touched(_ number: UInt64, _ change: FileEventMask = .modified, by name: DiskName? = nil) {
        inodes[number]!.changed = now
        if inodes[number]!.dirtySince == nil {
            inodes[number]!.dirtySince = time
            dirty.insert(number)
        }
        if change == .modified { inodes[number]!.modified = now }
        if let name { events.add(change, name.directory, name.name) }
    }
}
