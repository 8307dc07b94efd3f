/// The followed name, with all symlinks resolved, and the files in its directory that have had it. All functions block.
struct FollowedName {
    private static let mostLinks = 40
    /// The maximum number of times that the directory is read while its names change.
    private static let attempts = 100
    /// The maximum number of searches for a file by its inode number, and the number of times that a name may lead to
    /// another inode by chance.
    private static let readings = 20
    private static let compressed = [".gz", ".xz", ".bz2", ".zst"].map { Array($0.utf8) }

    private let directory: any DirectoryHandle
    private let name: RelativePath

    init(_ path: String, in files: any FileSystem) throws {
        var path = RelativePath(checked: path)
        for _ in 0..<Self.mostLinks {
            guard path.bytes.last != UInt8(ascii: "/"), let name = path.components.last else {
                throw SystemError(.isDirectory, "open")
            }
            let parent = RelativePath(bytes: path.bytes.dropLast(name.bytes.count))
            let directory = try files.openDirectory(at: parent.bytes.isEmpty ? "." : parent.description)
            let target: RelativePath
            do throws(SystemError) {
                guard try directory.information(of: name, followsLink: false).kind == .symbolicLink else {
                    (self.directory, self.name) = (directory, name)
                    return
                }
                target = RelativePath(checked: try directory.symbolicLinkTarget(name))
            } catch {
                guard error.code == .notFound else { throw error }
                (self.directory, self.name) = (directory, name)
                return
            }
            path = target.isAbsolute ? target : RelativePath(bytes: parent.bytes + target.bytes)
        }
        throw SystemError(.tooManyLinks, "open")
    }

    /// Opens the file that has the name now. Returns `nil` if there is none.
    func open() throws(SystemError) -> FollowedFile? { try open(name) }

    private func open(_ name: RelativePath) throws(SystemError) -> FollowedFile? {
        do throws(SystemError) {
            return try FollowedFile(directory.openFile(name, FileOpening()))
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// Opens the file of `place`, whatever its name is now. Returns `nil` if it is not in the directory.
    func open(at place: FollowStream.Position) throws(SystemError) -> FollowedFile? {
        // A large directory is read in parts, so a file renamed meanwhile may be missed. It is found under its next
        // name.
        for _ in 0..<Self.readings {
            for entry in try directory.sortedEntries() where entry.inode == place.inode {
                if let file = try open(entry.path), file.isSame(as: place) { return file }
            }
        }
        return nil
    }

    /// The files that have the name, or have had it.
    struct Found {
        /// The files that have had the name, from the oldest to the newest, and the one that has it.
        var former: [FollowedFile] = []
        var current: FollowedFile?
        /// The number of former files that cannot be read, because they are compressed.
        var compressed = 0
    }

    /// A file in the directory that is newer than the given one.
    private struct Newer {
        let file: FollowedFile
        let name: RelativePath
        var information: FileInformation

        /// Orders by the time of the last write, then by the time of the rename, then `log.10` before `log.9`.
        static func < (a: Newer, b: Newer) -> Bool {
            if a.information.isOlder(than: b.information) { return true }
            if b.information.isOlder(than: a.information) { return false }
            let (a, b) = (a.name.bytes, b.name.bytes)
            return a.count == b.count ? b.lexicographicallyPrecedes(a) : a.count > b.count
        }
    }

    /// Finds the files that have had the name after `last`, or all of them if that is `nil`. Leaves out those of
    /// `known`.
    ///
    /// A program may still write to a file after the next one was created. Until it writes to the next one, that one
    /// seems older, although it is newer. In that case, it is empty.
    func newer(than last: FollowedFile?, known: [FollowStream.Position]) throws(SystemError) -> Found {
        let file = try last?.information()
        var (found, newer): (Found, [Newer]) = (Found(), [])
        var (seen, odd): (Set<UInt64>, [[UInt64]: Int]) = ([], [:])
        // Files may be renamed meanwhile. Names are read together with inode numbers. So a file that has lost its name
        // is searched for under its next one.
        for _ in 0..<Self.attempts {
            found.current = try open(name)
            let listed = try directory.sortedEntries { $0 == name || isFormer($0) }
            var isWhole = listed.contains { $0.path == name } == (found.current != nil)
            for entry in listed where !seen.contains(entry.inode) {
                let now = try ifThere { () throws(SystemError) in
                    try directory.information(of: entry.path, followsLink: false)
                }
                guard let now else {
                    isWhole = false
                    continue
                }
                if now.inode != entry.inode {
                    odd[[entry.inode, now.inode], default: 0] += 1
                    // Some file systems list other inode numbers in their directories.
                    guard odd[[entry.inode, now.inode]]! > Self.readings else {
                        isWhole = false
                        continue
                    }
                }
                if entry.path == name {
                    if found.current?.position.inode != now.inode { isWhole = false }
                    continue
                }
                let isOld = file.map(now.isOlder) == true && now.size > 0
                if isOld || now.kind != .regularFile || Self.isCompressed(entry.path) {
                    seen.insert(entry.inode)
                    if !isOld, Self.isCompressed(entry.path), file?.isOlder(than: now) == true {
                        found.compressed += 1
                    }
                    continue
                }
                guard let opened = try open(entry.path), opened.position.inode == now.inode else {
                    isWhole = false
                    continue
                }
                seen.insert(entry.inode)
                let information = try opened.information()
                if known.contains(where: opened.isSame) { continue }
                if let last, file.map(information.isOlder) == true {
                    guard information.size == 0, opened.position.birth >= last.position.birth else {
                        continue
                    }
                }
                newer.append(Newer(file: opened, name: entry.path, information: information))
            }
            if isWhole { break }
        }
        for index in newer.indices { newer[index].information = try newer[index].file.information() }
        found.former = newer.sorted(by: <).map(\.file)
        if let current = found.current { found.former.removeAll { $0.isSame(as: current.position) } }
        return found
    }

    private static func isCompressed(_ name: RelativePath) -> Bool {
        compressed.contains { name.bytes.suffix($0.count).elementsEqual($0) }
    }

    /// Whether a rotation has given a file this name: `app.log.1`, `app.log-20261127.gz`, `app.1.log`.
    private func isFormer(_ other: RelativePath) -> Bool {
        var rest = other.bytes[...]
        if let ending = Self.compressed.first(where: { rest.suffix($0.count).elementsEqual($0) }) {
            rest = rest.dropLast(ending.count)
        }
        if rest.starts(with: name.bytes) { return Self.isNumber(rest.dropFirst(name.bytes.count)) }
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let (stem, ending) = (name.bytes[..<dot], name.bytes[dot...])
        guard rest.starts(with: stem), rest.dropFirst(stem.count).suffix(ending.count).elementsEqual(ending)
        else {
            return false
        }
        return Self.isNumber(rest.dropFirst(stem.count).dropLast(ending.count))
    }

    /// Whether `text` is a number or a date after a dot, a hyphen or an underscore, or marks an old file, such as
    /// `.bak`.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, ".-_".utf8.contains(first), text.count > 1 else { return false }
        return text.allSatisfy { "0123456789.-_T".utf8.contains($0) }
            || [".old", ".bak", ".prev"].contains { text.elementsEqual($0.utf8) }
    }
}

extension FileInformation {
    fileprivate func isOlder(than other: FileInformation) -> Bool {
        (modified, changed) < (other.modified, other.changed)
    }
}
