internal import Futures

// How a change of an entry changes what is known and watched.
extension TreeWatch {
    func handleChange(ofDirectory directory: WatchedDirectory, _ what: FileEventMask) {
        let isRoot = directory === root
        if what.contains(.selfDeleted) {
            if isRoot { return end(FileWatchError.removed(path: path)) }
            // The parent directory reports the removal. But if two directories take a name one right after the other,
            // and nothing else happens to the second, the system reports only one of them.
            giveUpWatch(of: directory)
            doubtful.append(directory)
        } else if what.contains(.unmounted) {
            if isRoot { return end(FileWatchError.unmounted(path: path)) }
            hasLostEvents = true
        } else if what.contains(.selfMoved) {
            if isRoot { end(FileWatchError.moved(path: path)) }
        } else if what.contains(.ignored) {
            giveUpWatch(of: directory)
            hasLostEvents = true
        }
    }

    func comes(
        _ name: RelativePath, to directory: WatchedDirectory, isDirectory: Bool, isRenamed: Bool
    ) {
        let path = directory.path(of: name)
        if let known = directory.entries[name] {
            // A scan has already found a created entry. A renamed one may have replaced something.
            guard isRenamed else { return }
            forget(name, in: directory)
            if known == nil {
                changes.add(.modified, path)
            } else {
                // What a scan has reported below this name may be gone by now.
                changes.add(.removed, path, isDirectory: true)
                changes.add(.created, path)
            }
        } else {
            changes.add(.created, path)
        }
        add(name, to: directory, isDirectory: isDirectory)
    }

    func add(_ name: RelativePath, to directory: WatchedDirectory, isDirectory: Bool) {
        guard isDirectory, isRecursive else {
            directory.entries[name] = .some(nil)
            return
        }
        let new = WatchedDirectory(name, in: directory)
        directory.entries[name] = .some(new)
        scan(new, tells: true)
    }

    func goes(_ name: RelativePath, from directory: WatchedDirectory, isDirectory: Bool) {
        guard let known = directory.entries[name] else { return }
        let path = directory.path(of: name)
        forget(name, in: directory)
        // A scan may have found another entry that has taken the name since.
        changes.add(.removed, path, isDirectory: isDirectory || known != nil)
    }

    /// Whether the renamed entry may be the one that was just replaced there. The disk cannot answer that, because more
    /// may have happened since. If so, the watch looks at everything again.
    func mayBeExchanged(_ place: WatchedPlace) -> Bool {
        guard let replaced, replaced.place == place, replaced.time.duration(to: eventTime) <= Self.renameTime
        else { return false }
        hasLostEvents = true
        return true
    }
}
