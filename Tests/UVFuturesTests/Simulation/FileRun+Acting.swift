import FoundationEssentials
import UVFutures

extension FileRun {
    func outcome(of action: Program.Action) -> String {
        switch action {
        case .open(let number, let place, let access, let creation, let truncating, let permissions):
            return hold(number, place.directory) {
                $0.open(
                    place.path, access, creating: creation, truncating: truncating, permissions: permissions)
            }
        case .temporary(let number, let directory, let permissions):
            guard isThere(directory) else { return "none" }
            return hold(number, directory) { $0.makeTemporaryFile(permissions: permissions) }
        case .openDirectory(let number, let place):
            return with(place.directory) { directory in
                text(directory.openDirectory(place.path)) { opened in
                    if let old = directories.updateValue(opened, forKey: number) {
                        try? loop.run(until: old.close())
                    }
                    return "opened"
                }
            }
        case .closeDirectory(let number): return with(number) { text($0.close()) }
        case .syncDirectory(let number): return with(number) { text($0.sync()) }
        case .information(let subject, let followingLink):
            guard let future = information(of: subject, followingLink: followingLink) else { return "none" }
            return text(future, describe)
        case .linkFile(let number, let place):
            guard let file = files[number] else { return "none" }
            return with(place.directory) { text($0.link(file, as: place.path)) }
        case .rename(let place, let target, let replacing):
            return with(place.directory, target.directory) {
                text($0.rename(place.path, to: target.path, in: $1, replacing: replacing))
            }
        case .link(let place, let target):
            return with(place.directory, target.directory) {
                text($0.link(place.path, as: target.path, in: $1))
            }
        default: return outcomeOfUse(action) ?? outcomeAtPlace(action)
        }
    }

    private func hold(_ number: Int, _ directory: Int, _ open: (Directory) -> Future<File>) -> String {
        with(directory) {
            text(open($0)) { file in
                locks[number] = nil
                if let old = files.updateValue(file, forKey: number) { try? loop.run(until: old.close()) }
                return "opened"
            }
        }
    }

    private func isThere(_ number: Int) -> Bool {
        let future = information(of: .place(Program.Place(directory: number, path: ".")))
        return future.flatMap { try? loop.run(until: $0) }?.linkCount ?? 0 > 0
    }

    private func with(_ number: Int, _ body: (Directory) -> String) -> String {
        directories[number].map(body) ?? "none"
    }

    private func with(_ number: Int, _ other: Int, _ body: (Directory, Directory) -> String) -> String {
        with(number) { directory in with(other) { body(directory, $0) } }
    }

    /// Does something with an open file.
    private func outcomeOfUse(_ action: Program.Action) -> String? {
        let number: Int
        let use: (File) -> String
        switch action {
        case .read(let file, let count, let offset):
            (number, use) = (file, { self.text($0.read(atMost: count, at: offset), \.digest) })
        case .readAll(let file, let limit):
            (number, use) = (file, { self.text($0.readAll(limit: limit), \.digest) })
        case .write(let file, let count, let offset):
            (number, use) = (file, { self.text($0.write(self.bytes(count), at: offset)) })
        case .append(let file, let count): (number, use) = (file, { self.text($0.append(self.bytes(count))) })
        case .truncate(let file, let size): (number, use) = (file, { self.text($0.truncate(to: size)) })
        case .sync(let file, let dataOnly): (number, use) = (file, { self.text($0.sync(dataOnly: dataOnly)) })
        case .setPermissionsOfFile(let file, let permissions):
            (number, use) = (file, { self.text($0.setPermissions(to: permissions)) })
        case .lock(let file, let mode):
            (number, use) = (
                file,
                { opened in
                    self.text(opened.tryLock(mode)) { lock in
                        if let lock { self.locks[file] = lock }
                        return lock == nil ? "locked by another" : "locked"
                    }
                }
            )
        case .unlock(let file):
            (number, use) = (
                file, { _ in self.locks.removeValue(forKey: file).map { self.text($0.release()) } ?? "none" }
            )
        case .close(let file):
            (number, use) = (
                file,
                {
                    self.locks[file] = nil
                    return self.text($0.close())
                }
            )
        default: return nil
        }
        return files[number].map(use) ?? "none"
    }

    /// Does something with what is at a path.
    private func outcomeAtPlace(_ action: Program.Action) -> String {
        switch action {
        case .setPermissions(let place, let permissions):
            return with(place.directory) { text($0.setPermissions(of: place.path, to: permissions)) }
        case .contents(let place, let limit):
            return with(place.directory) { text($0.contents(of: place.path, limit: limit), \.digest) }
        case .replace(let place, let count, let permissions):
            return with(place.directory) {
                text($0.replace(place.path, with: bytes(count), permissions: permissions))
            }
        case .appendTo(let place, let count):
            return with(place.directory) { text($0.append(bytes(count), to: place.path)) }
        case .makeDirectory(let place, let withParents, let permissions):
            return with(place.directory) {
                text($0.makeDirectory(place.path, withParents: withParents, permissions: permissions))
            }
        case .makeSymbolicLink(let place, let target):
            return with(place.directory) { text($0.makeSymbolicLink(place.path, to: target)) }
        case .target(let place):
            return with(place.directory) { text($0.target(ofSymbolicLink: place.path)) { "to \($0)" } }
        case .remove(let place): return with(place.directory) { text($0.remove(place.path)) }
        case .removeDirectory(let place):
            return with(place.directory) { text($0.removeDirectory(place.path)) }
        case .removeTree(let place, let maxDepth):
            return with(place.directory) { text($0.removeTree(place.path, maxDepth: maxDepth)) }
        case .entries(let place):
            return with(place.directory) { all($0.entries(of: place.path)) { "\($0.name) (\($0.kind))" } }
        case .walk(let place, let maxDepth, let maxEntries):
            return with(place.directory) {
                all($0.walk(place.path, maxDepth: maxDepth, maxEntries: maxEntries)) {
                    "\($0.path) (\($0.kind), \($0.depth))"
                }
            }
        default: fatalError("\(action) is no action at a place")
        }
    }

    /// The elements of a sequence, sorted, since a directory has no order. Of an error, which may come after any number
    /// of them, only the error, and not which of several directories it names.
    private func all<Element: Sendable>(_ sequence: LoopSequence<Element>, _ line: (Element) -> String)
        -> String
    {
        do {
            return try loop.all(sequence).map(line).sorted().joined(separator: ", ")
        } catch TreeError.tooDeep(_, let limit) {
            return "too deep for \(limit)"
        } catch { return "\(error)" }
    }

    private func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
    }
}
