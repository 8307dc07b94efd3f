internal import SystemIO

/// The current name of a file or directory, or the name it had when it was removed.
struct DiskName {
    var directory: UInt64
    var name: RelativePath
    var isRemoved = false
}

extension DiskState {
    /// Records an open directory, or a file opened by the name `name`. Returns a number that is unique to this open
    /// file.
    mutating func opened(_ number: UInt64, by name: DiskName? = nil) -> UInt64 {
        inodes[number]!.openCount += 1
        lastNumber += 1
        openFiles[lastNumber] = .some(name)
        if let name { hold(name.directory) }
        return lastNumber
    }

    /// Records that an open file has been closed. A second call does nothing.
    mutating func closed(_ number: UInt64, open: UInt64) {
        guard let name = openFiles.removeValue(forKey: open) else { return }
        inodes[number]!.openCount -= 1
        inodes[number]!.locks[open] = nil
        freeIfUnused(number)
        if let name { release(name.directory) }
    }

    /// Gives the open files that have the name `name` the new name, or marks their name as removed.
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

    /// Keeps a removed directory alive, in the same way as an open file whose name was in the directory.
    mutating func hold(_ directory: UInt64) { inodes[directory]!.holders += 1 }

    private mutating func release(_ directory: UInt64) {
        // A loss of power clears all holds.
        guard inodes[directory] != nil else { return }
        inodes[directory]!.holders -= 1
        freeIfUnused(directory)
    }

    mutating func freeIfUnused(_ number: UInt64) {
        guard let inode = inodes[number], inode.linkCount == 0, inode.openCount == 0, inode.holders == 0
        else { return }
        events.deleted(number)
        if let place = inodes[number]!.place.take() { release(place.directory) }
        // A loss of power may bring the inode back if the disk has a name for it, or if a pending change adds one.
        guard inode.safeLinkCount == 0, !nameChanges.contains(where: { $0.added?.inode == number }) else {
            return
        }
        inodes[number] = nil
    }

    /// Records a change of a file's contents or permissions, and reports it under `name`.
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
