import FoundationEssentials
import UVFutures

/// A program that is being run on a loop.
final class FileRun {
    typealias Program = FileProgram

    let loop: EventLoop
    private let traits: FileTraits
    var files: [Int: File] = [:]
    var locks: [Int: FileLock] = [:]
    var directories: [Int: Directory]

    /// Returns what becomes of each step and is told of it, and what is there at the end. Calls `wait` before each step,
    /// so that times differ.
    static func outcomes(
        of program: Program, in path: String, on loop: EventLoop, _ traits: FileTraits,
        _ watches: any RunWatches, expecting expected: [String]? = nil, wait: () -> Void
    ) throws -> [String] {
        let root = try loop.run(until: Directory.open(path, on: loop))
        let run = FileRun(root, loop, traits)
        var lines: [String] = []
        for step in program.steps {
            wait()
            let before = step.observed.map(run.times)
            let outcome = run.outcome(of: step.action)
            let changes = zip(before, step.observed).map { run.changes(since: $0, of: $1) }
            lines.append(([outcome] + changes).joined(separator: "; "))
            lines.append(try watches.told(of: step.action, expecting: expected?[lines.count]))
        }
        lines += FileTree(root, loop, traits).lines
        lines += try run.end()
        lines.append(try watches.told(of: nil, expecting: expected?.last))
        try watches.close()
        return lines
    }

    init(_ root: Directory, _ loop: EventLoop, _ traits: FileTraits) {
        (directories, self.loop, self.traits) = ([0: root], loop, traits)
    }

    /// Closes everything. Returns what becomes of that.
    @discardableResult
    func end() throws -> [String] {
        let lines = files.keys.sorted().map { outcome(of: .close($0)) }
        for directory in directories.values { try loop.run(until: directory.close()) }
        return lines
    }

    func text<Value>(_ future: Future<Value>, _ text: (Value) -> String) -> String {
        do { return text(try loop.run(until: future)) } catch { return "\(error)" }
    }

    func text(_ future: Future<Void>) -> String { text(future) { "done" } }

    func describe(_ information: FileInformation) -> String { traits.describe(information) }

    // MARK: Times

    private typealias Times = (inode: UInt64, modified: Date, changed: Date)

    func information(of subject: Program.Subject, followingLink: Bool = false) -> Future<FileInformation>? {
        switch subject {
        case .file(let number): files[number]?.information()
        case .place(let place):
            directories[place.directory]?.information(of: place.path, followingLink: followingLink)
        }
    }

    private func times(of subject: Program.Subject) -> Times? {
        guard traits.hasFineTimes, let future = information(of: subject) else { return nil }
        return (try? loop.run(until: future)).map { ($0.inode, $0.modified, $0.changed) }
    }

    private func changes(since before: Times?, of subject: Program.Subject) -> String {
        guard let before, let after = times(of: subject) else { return "not there" }
        guard before.inode == after.inode else { return "another file" }
        let changes = [
            before.modified == after.modified ? nil : "modified",
            before.changed == after.changed ? nil : "changed",
        ]
        return changes.compactMap { $0 }.joined(separator: " and ")
    }
}
