/// The files that have had the followed name, from the one being read to the one that has it now. All functions block.
struct FollowedFiles: Sendable {
    /// The maximum number of open files that wait to be read. The others are searched for in the directory later.
    private static let mostOpen = 64

    private var files: [FollowedFile] = []
    /// The files that were last read to their ends.
    private var past: [FollowStream.Position] = []
    /// The number of files that have been found since the first look.
    private(set) var found = 0
    /// Whether the last file has the name.
    private var isNamed = false
    /// Whether the last look has found all files that have had the name.
    private(set) var isComplete = false
    /// The losses that the last look has found.
    private(set) var losses: [FollowStream.Loss] = []

    init(_ path: String, from start: File.FollowStart, in system: any FileSystem) throws {
        let name = try FollowedName(path, in: system)
        guard case .position(let place) = start else {
            guard var file = try name.open() else { return }
            if start == .end { try file.skipToEnd() }
            (files, isNamed) = ([file], true)
            return
        }
        if var file = try name.open(at: place) {
            if let loss = try file.skip(to: place.offset) { losses = [loss] }
            files = [file]
        } else {
            losses = [.files(atLeast: 1, after: place)]
        }
        // Rotations remove the oldest file first. So the remaining files are newer than a missing one.
        try findNewer(name, fromOldest: files.isEmpty)
        found = 0
    }

    /// The place after the last byte that was read. `nil` if no file has existed yet.
    var position: FollowStream.Position? { files.first?.position }
    /// How far the last file has been read.
    var lastPosition: FollowStream.Position? { files.last?.position }

    /// Whether the file being read has lost its name. Programs that have it open may still write to it.
    var hasLostName: Bool { files.count > 1 || !files.isEmpty && !isNamed }

    /// Reads the next bytes if `reads` is set. If none are there, or `hasChanged` is set, looks for files that have
    /// taken the name.
    mutating func look(
        at path: String, reads: Bool, hasChanged: Bool, in system: any FileSystem
    ) throws -> [FollowedFile.Part] {
        (losses, isComplete) = ([], false)
        let part = reads && !files.isEmpty ? try files[0].read(&losses) : nil
        if let part, !hasChanged { return [part] }
        do {
            try findNewer(FollowedName(path, in: system))
        } catch let error as SystemError {
            // The directory may reappear. If it does not, the watch reports that.
            guard error.meansGone else { throw error }
            isNamed = false
        }
        if let part { return [part] }
        return reads ? try readNext() : []
    }

    /// Opens the files that have taken the name after the last known one.
    private mutating func findNewer(_ name: FollowedName, fromOldest: Bool = false) throws {
        guard files.count < Self.mostOpen else { return }
        defer { isComplete = isNamed }
        let current = try name.open()
        isNamed = current.map { files.last?.isSame(as: $0.position) == true } ?? false
        if isNamed { return }
        if let last = files.last {
            let found = try name.newer(than: last, known: past + files.map(\.position))
            if found.compressed > 0 {
                losses.append(.files(atLeast: found.compressed, after: last.position))
            }
            append(found)
        } else if fromOldest {
            append(try name.newer(than: nil, known: []))
        } else {
            append(FollowedName.Found(current: current))
        }
    }

    private mutating func append(_ found: FollowedName.Found) {
        append(found.former)
        guard let current = found.current else { return }
        append([current])
        isNamed = true
    }

    private mutating func append(_ newer: [FollowedFile]) {
        for file in newer where !files.contains(where: { $0.isSame(as: file.position) }) {
            files.append(file)
            found += 1
        }
    }

    /// Reads the next bytes when the current file has no more.
    private mutating func readNext() throws -> [FollowedFile.Part] {
        while !files.isEmpty {
            // A program that writes to the next file has finished writing this one.
            let isFollowed = try files.count > 2 || files.count == 2 && files[1].information().size > 0
            if let part = try files[0].read(&losses) { return [part] }
            guard isFollowed else { return [] }
            let read = files.removeFirst()
            past = (past + [read.position]).suffix(Self.mostOpen)
            let end = read.endOfLine()
            let next = try files[0].read(&losses)
            if end != nil || next != nil { return [end, next].compactMap { $0 } }
        }
        return []
    }
}
