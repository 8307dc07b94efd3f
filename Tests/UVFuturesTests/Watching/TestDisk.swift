import CFuturesSystem
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// A directory of the disk, or of a simulated one, in which the same happens.
final class TestDisk {
    let loop: EventLoop
    let root: String
    let simulated: SimulatedDisk?
    /// The links that were made, each with its target. The functions of a simulated disk lead through none.
    private var links: [String: String] = [:]

    /// Runs `body` with an empty one.
    static func with(
        _ network: TestNetwork, _ body: (EventLoop, TestDisk) throws -> Void
    ) throws {
        try withLoop(network, ignoringUnhandled: true) { loop in
            let directory = network == .system ? TemporaryDirectory() : nil
            let disk = TestDisk(loop, directory?.path ?? "/srv", directory == nil ? loop.simulatedDisk : nil)
            disk.simulated?.makeDirectory(disk.root)
            try body(loop, disk)
            try loop.run()
        }
    }

    private init(_ loop: EventLoop, _ root: String, _ simulated: SimulatedDisk?) {
        (self.loop, self.root, self.simulated) = (loop, root, simulated)
    }

    func url(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }

    // MARK: What happens. An operation that cannot be does nothing.

    func write(_ path: String, _ text: String, appending: Bool = false) {
        if let simulated {
            var place = path
            while let link = links.keys.first(where: { place == $0 || place.hasPrefix($0 + "/") }) {
                place = links[link]! + place.dropFirst(link.count)
            }
            let old = appending ? simulated.contents(of: url(place)) ?? Data() : Data()
            return simulated.write(url(place), old + Data(text.utf8))
        }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (appending ? O_APPEND : O_TRUNC)
        let file = unsafe open(url(path), flags, 0o644)
        if file >= 0 { unsafe _ = Glibc.write(file, text, text.utf8.count) }
        close(file)
    }

    func makeDirectory(_ path: String) {
        if let simulated { return simulated.makeDirectory(url(path)) }
        try? FileManager.default.createDirectory(atPath: url(path), withIntermediateDirectories: true)
    }

    func remove(_ path: String) {
        if let simulated { return simulated.remove(url(path)) }
        try? FileManager.default.removeItem(atPath: url(path))
    }

    /// Renames a file or a directory. Returns whether that could be.
    @discardableResult
    func rename(_ path: String, to newPath: String) -> Bool {
        guard simulated != nil else { return unsafe Glibc.rename(url(path), url(newPath)) == 0 }
        do {
            let (old, new) = try (RelativePath(path).split(), RelativePath(newPath).split())
            let files = loop.core.system.fileSystem
            let source = try files.openDirectory(at: url(old.parent?.description ?? ""))
            let target = try files.openDirectory(at: url(new.parent?.description ?? ""))
            guard try source.information(of: old.name, followsLink: false).inode > 0 else { return false }
            // By the function of a test, which tells the change.
            let kind = try source.information(of: old.name, followsLink: false).kind
            if let there = try? target.information(of: new.name, followsLink: false) {
                guard there.kind == kind, kind != .directory || simulated!.names(in: url(newPath)).isEmpty,
                    path != newPath
                else { return false }
            }
            guard !newPath.hasPrefix(path + "/"), !path.hasPrefix(newPath + "/") else { return false }
            simulated!.rename(url(path), to: url(newPath))
            links[newPath] = links.removeValue(forKey: path)
            return true
        } catch {
            return false
        }
    }

    /// Lets two names change places. No simulated disk can.
    func exchange(_ path: String, _ other: String) {
        _ = unsafe rename_with_flags(AT_FDCWD, url(path), AT_FDCWD, url(other), 2)
    }

    /// Makes a link to another path here.
    func link(_ path: String, to target: String) throws {
        links[path] = target
        guard simulated != nil else {
            #expect(unsafe symlink(url(target), url(path)) == 0)
            return
        }
        let directory = try loop.run(until: Directory.open(root, on: loop))
        try loop.run(until: directory.makeSymbolicLink(path, to: url(target)))
        try loop.run(until: directory.close())
    }

    // MARK: What there is

    /// What is at `path`: a directory, or a file with its contents and permissions. `nil` if nothing is.
    func look(_ path: String) -> String? {
        if let simulated {
            if let contents = simulated.contents(of: url(path)) { return "file \(contents.text)" }
            let (parent, name) =
                path.isEmpty
                ? ("", "")
                : (try? RelativePath(path).split()).map {
                    ($0.parent?.description ?? "", $0.name.description)
                } ?? ("", "")
            return path.isEmpty || simulated.names(in: url(parent)).contains(name) ? "directory" : nil
        }
        var status = stat()
        guard unsafe stat(url(path), &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFDIR { return "directory" }
        return contents(url(path)).map { "file \($0) \(status.st_mode & 0o777)" }
    }

    func names(in path: String) -> [String] {
        if let simulated { return simulated.names(in: url(path)) }
        return ((try? FileManager.default.contentsOfDirectory(atPath: url(path))) ?? []).sorted()
    }

    /// What is below `path`, by its path from there.
    func scan(_ path: String, isRecursive: Bool = true) -> [String: String] {
        var found: [String: String] = [:]
        var line = [""]
        while let directory = line.popLast() {
            for name in names(in: directory.isEmpty ? path : "\(path)/\(directory)") {
                let below = directory.isEmpty ? name : "\(directory)/\(name)"
                guard let what = look("\(path)/\(below)") else { continue }
                found[below] = what
                if what == "directory", isRecursive { line.append(below) }
            }
        }
        return found
    }
}

/// What a program knows that looks only where a watch tells that something has changed.
final class Mirror {
    private let disk: TestDisk
    private let path: String
    private let isRecursive: Bool
    private(set) var entries: [String: String]
    private(set) var told: [String] = []

    init(_ path: String, of disk: TestDisk, isRecursive: Bool = true) {
        (self.disk, self.path, self.isRecursive) = (disk, path, isRecursive)
        entries = disk.scan(path, isRecursive: isRecursive)
    }

    func apply(_ change: FileChange) {
        told.append("\(change)")
        switch change.kind {
        case .created, .modified, .attributes: look(change.path)
        case .removed: drop(change.path)
        case .moved(let source):
            drop(change.path)
            for old in below(source).keys {
                entries[old] = nil
                let new = change.path + old.dropFirst(source.count)
                // It may have changed since the rename was told, or have been another one under the old name.
                entries[new] = disk.look("\(path)/\(new)") ?? Self.missed
            }
            look(change.path)
        case .lookAgain: entries = disk.scan(path, isRecursive: isRecursive)
        }
    }

    private func below(_ path: String) -> [String: String] {
        entries.filter { $0.key == path || $0.key.hasPrefix(path + "/") }
    }

    private func drop(_ path: String) { for key in below(path).keys { entries[key] = nil } }

    private func look(_ path: String) {
        // What is not there any more has gone, or has been renamed, which is told later.
        entries[path] = disk.look("\(self.path)/\(path)") ?? Self.missed
    }

    private static let missed = "missed"

    /// How this differs from what there is. What was missed is looked at again, under the name that it has by now.
    var difference: [String] {
        for (key, what) in entries where what == Self.missed {
            entries[key] = disk.look("\(path)/\(key)") ?? Self.missed
        }
        let there = disk.scan(path, isRecursive: isRecursive)
        return Set(entries.keys).union(there.keys).sorted().compactMap { key in
            entries[key] == there[key]
                ? nil : "\(key): \(entries[key] ?? "none"), not \(there[key] ?? "none")"
        }
    }
}
