internal import Futures

/// The name that is followed, behind all links, and the files beside it that have had it. All of its functions block.
struct FollowedName {
    private static let mostLinks = 40
    private static let compressed = [".gz", ".xz", ".bz2", ".zst"].map { Array($0.utf8) }

    private let directory: any DirectoryHandle
    private let name: RelativePath

    init(_ path: String, in files: any FileSystem) throws {
        var path = RelativePath(checked: path)
        for _ in 0..<Self.mostLinks {
            guard path.bytes.last != UInt8(ascii: "/"), let name = path.components.last else {
                throw UVError(.isDirectory, "open")
            }
            let parent = RelativePath(bytes: path.bytes.dropLast(name.bytes.count))
            let directory = try files.openDirectory(at: parent.bytes.isEmpty ? "." : parent.description)
            let target: RelativePath
            do throws(UVError) {
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
        throw UVError(.tooManyLinks, "open")
    }

    /// Opens the file that has the name now. Returns `nil` if there is none.
    func open() throws(UVError) -> FollowedFile? { try open(name) }

    private func open(_ name: RelativePath) throws(UVError) -> FollowedFile? {
        do throws(UVError) {
            return try FollowedFile(directory.openFile(name, FileOpening()))
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    /// Opens the file that a place is in, whatever its name is now. Returns `nil` if it is not in the directory.
    func open(at place: FollowStream.Position) throws(UVError) -> FollowedFile? {
        for (name, file) in try entries({ _ in true })
        where file.inode == place.inode && file.device == place.device {
            if let file = try open(name), file.isSame(as: place) { return file }
        }
        return nil
    }

    /// The files that have had the name after `file`, from the oldest to the newest. With `nil`, all that have had it.
    func former(after file: FileInformation?) throws(UVError) -> (files: [FollowedFile], compressed: Int) {
        let all = try entries { name in name != self.name && isFormer(name) }
            .filter { $0.file.kind == .regularFile }
            .sorted { a, b in
                if Self.isOlder(a.file, b.file) { return true }
                if Self.isOlder(b.file, a.file) { return false }
                // As in `log.10` and `log.9`.
                let (a, b) = (a.name.bytes, b.name.bytes)
                return a.count == b.count ? b.lexicographicallyPrecedes(a) : a.count > b.count
            }
        var later = all[...]
        if let file {
            let place = all.firstIndex { $0.file.inode == file.inode && $0.file.device == file.device }
            // Rotations remove the oldest file first.
            later = place.map { all[($0 + 1)...] } ?? all.drop { Self.isOlder($0.file, file) }
        }
        var (files, compressed): ([FollowedFile], Int) = ([], 0)
        for (name, _) in later {
            if Self.isCompressed(name) {
                compressed += 1
            } else if let file = try open(name) {
                files.append(file)
            }
        }
        return (files, file == nil ? 0 : compressed)
    }

    /// The time of the last write tells the order, and after it the time of the rename.
    private static func isOlder(_ a: FileInformation, _ b: FileInformation) -> Bool {
        (a.modified, a.changed) < (b.modified, b.changed)
    }

    private static func isCompressed(_ name: RelativePath) -> Bool {
        compressed.contains { name.bytes.suffix($0.count).elementsEqual($0) }
    }

    /// Whether a file has been given this name by a rotation: `app.log.1`, `app.log-20261127.gz`, `app.1.log`.
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

    /// Whether `text` is a number or a date behind a point, a hyphen or a low line, or says that the file is an old one.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, ".-_".utf8.contains(first), text.count > 1 else { return false }
        return text.allSatisfy { "0123456789.-_T".utf8.contains($0) }
            || [".old", ".bak", ".prev"].contains { text.elementsEqual($0.utf8) }
    }

    private func entries(
        _ isWanted: (RelativePath) -> Bool
    ) throws(UVError) -> [(name: RelativePath, file: FileInformation)] {
        let listing = try directory.makeListing()
        var found: [(name: RelativePath, file: FileInformation)] = []
        while case let entries = try listing.next(), !entries.isEmpty {
            for entry in entries where isWanted(entry.path) {
                do throws(UVError) {
                    found.append((entry.path, try directory.information(of: entry.path, followsLink: false)))
                } catch {
                    guard error.code == .notFound else { throw error }
                }
            }
        }
        return found
    }
}
