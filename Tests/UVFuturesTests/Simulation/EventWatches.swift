import Futures
import Glibc

@testable import SystemIO
@testable import UVFutures

/// One watch of the system on each directory, with the events as the system tells them.
final class EventWatches: RunWatches {
    /// What the directories with some names are watched for. One that is renamed is watched for both.
    private static let masks: [String: FileEventMask] = [
        "b": [.modified, .attributes, .selfMoved], "c": .ofNames, "d": .ofReplacement,
    ]
    private let path: String
    private let files: any FileSystem
    private let source: any FileEventSource
    /// The number of each watch in the order in which they were added.
    private var labels: [CInt: Int] = [:]
    private var steps = 0

    init(_ path: String, _ loop: EventLoop) throws {
        (self.path, files) = (path, loop.core.system.fileSystem)
        source = try loop.core.system.makeFileEvents()
        try add(files.openDirectory(at: path), .here)
    }

    func told(of action: FileProgram.Action?, expecting expected: String?) throws -> String {
        // What happens twice is told once by then.
        steps += 1
        if action != nil, steps % 3 == 1 { return "later" }
        var events = try takeEvents()
        let start = ContinuousClock.now
        while let expected, !expected.hasPrefix(describe(events) + "|"), .now - start < .milliseconds(100) {
            sched_yield()
            events += try takeEvents()
        }
        guard !events.isEmpty else { return "|" }
        let text = try describe(events) + "|" + add(files.openDirectory(at: path), .here)
        // Some end before their directory does.
        for event in events where event.changes.contains(.selfMoved) && labels[event.watch]! % 2 == 0 {
            source.removeWatch(event.watch)
        }
        return text
    }

    func close() { source.close() }

    /// Those of files, and not of what other tests mount elsewhere.
    private func takeEvents() throws -> [FileEvent] { try source.takeEvents().filter { $0.watch >= 0 } }

    /// Watches the directory and all below it, each for what its name decides. Returns the numbers of the watches.
    @discardableResult
    private func add(_ directory: any DirectoryHandle, _ name: RelativePath) throws -> String {
        let mask = Self.masks[name.description] ?? .ofFiles
        var text = try label(source.watcher.watch(directory, for: mask))
        if name != .here, name.description != "b", let above = try source.watcher.watchAbove(directory) {
            text += " below \(label(above.watch)) as \(above.name)"
        }
        let listing = try directory.makeListing()
        var names: [RelativePath] = []
        while case let some = try listing.next(), !some.isEmpty {
            names += some.filter { $0.kind == .directory }.map(\.path)
        }
        for name in names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            text += try ", " + add(directory.openDirectory(name, followsLink: false), name)
        }
        return text
    }

    private func label(_ watch: CInt) -> String {
        if labels[watch] == nil { labels[watch] = labels.count }
        return "\(labels[watch]!)"
    }

    private func describe(_ events: [FileEvent]) -> String {
        var cookies: [UInt32] = []
        let lines = events.map { event in
            if event.cookie > 0, !cookies.contains(event.cookie) { cookies.append(event.cookie) }
            let cookie = cookies.firstIndex(of: event.cookie).map { ", \($0)" } ?? ""
            let isNameless = event.name?.bytes.first == UInt8(ascii: "#")
            let name = event.name.map { isNameless ? " #" : " \($0)" } ?? ""
            return (labels[event.watch] ?? -1, "\(event.changes.text)\(name)\(cookie)")
        }
        return Dictionary(grouping: lines, by: \.0).sorted { $0.key < $1.key }
            .map { "\($0): \($1.map(\.1).joined(separator: ", "))" }.joined(separator: "; ")
    }
}

extension FileEventMask {
    fileprivate var text: String {
        let names: [(FileEventMask, String)] = [
            (.modified, "modified"), (.attributes, "attributes"), (.movedFrom, "moved from"),
            (.movedTo, "moved to"), (.created, "created"), (.deleted, "deleted"), (.selfDeleted, "gone"),
            (.selfMoved, "moved"), (.overflow, "overflow"), (.ignored, "ignored"),
            (.isDirectory, "directory"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: "+")
    }
}
