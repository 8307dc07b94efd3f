import Futures
import FuturesTesting

@testable import SystemIO
@testable import UVFutures

/// Watches of files, directories and trees, with the changes that each of them tells. One that has ended is begun again
/// with each step, until it can be.
final class PathWatches: RunWatches {
    private enum Kind { case tree, directory, file }

    private static let places: [(Kind, String)] = [
        (.tree, ""), (.directory, "/a"), (.tree, "/c"), (.file, "/b"), (.file, "/a/c"),
    ]

    private let path: String
    private let loop: EventLoop
    private var watches: [FileWatch?]
    private var lines: [String] = []

    init(_ path: String, _ loop: EventLoop) throws {
        (self.path, self.loop) = (path, loop)
        watches = Array(repeating: nil, count: Self.places.count)
        try begin()
    }

    func told(of action: FileProgram.Action?, expecting expected: String?) throws -> String {
        try waitUntilQuiet()
        // Two renames within two milliseconds might be an exchange of two files.
        if case .rename = action, loop.system is UVLoop { try loop.run(for: .milliseconds(3)) }
        if !lines.isEmpty { try begin() }
        defer { lines = [] }
        return lines.sorted { $0.first! < $1.first! }.joined(separator: ", ")
    }

    private func begin() throws {
        for (number, (kind, name)) in Self.places.enumerated() where watches[number]?.isOpen != true {
            do {
                let watch = try loop.run(until: start(kind, path + name))
                watch.onChange { [unowned self] in lines.append("\(number): \($0)") }
                watch.closed.whenFailure { [unowned self] in lines.append("\(number): \($0)") }
                watches[number] = watch
            } catch { lines.append("\(number): \(error)") }
        }
        try waitUntilQuiet()
    }

    private func start(_ kind: Kind, _ path: String) -> Future<FileWatch> {
        switch kind {
        case .tree: FileWatch.watch(tree: path, debounce: .zero, on: loop)
        case .directory: FileWatch.watch(directory: path, debounce: .zero, on: loop)
        case .file: FileWatch.watch(file: path, debounce: .zero, on: loop)
        }
    }

    private func waitUntilQuiet() throws {
        repeat {
            if !(loop.system is UVLoop) { loop.advance(by: .milliseconds(10)) }
            (loop.system.fileEventHub as? FileEventHub)?.catchUp()
            try loop.run(until: RemoteContext.files.execute(on: loop.core) {})
        } while (loop.system.fileEventHub as? FileEventHub)?.engines.allSatisfy {
            !$0.isBusy && $0.queue.isEmpty
        } == false
    }

    func close() throws {
        for watch in watches {
            guard let watch, watch.isOpen else { continue }
            try loop.run(until: watch.close())
        }
        try waitUntilQuiet()
    }
}
