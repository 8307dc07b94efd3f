import Dispatch
import Foundation
import Futures
import Glibc
import Testing
import UVFutures

/// Runs `body` with an empty directory, and with its path. Proves that nothing is left open.
func withDirectory(
    ignoringUnhandled: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (EventLoop, Directory, String) throws -> Void
) throws {
    let path = try makeEmptyDirectory()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try withLoop(ignoringUnhandled: ignoringUnhandled, sourceLocation: sourceLocation) { loop in
        let directory = try loop.run(until: Directory.open(path, on: loop))
        try body(loop, directory, path)
        try loop.run(until: directory.close())
        try loop.runUntil { loop.statistics.fileOperations == 0 }
        #expect(loop.statistics.files == 0, "\(loop.dump())", sourceLocation: sourceLocation)
    }
}

func makeEmptyDirectory() throws -> String {
    let path = NSTemporaryDirectory() + "files-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return path
}

extension EventLoop {
    /// The code of the `FileError` that `future` fails with.
    func code<Value>(of future: Future<Value>, sourceLocation: SourceLocation = #_sourceLocation)
        -> SystemError
        .Code?
    {
        let failure = failure(of: future)
        if let error = failure as? FileError { return error.code }
        Issue.record("\(failure.map { "\($0)" } ?? "it succeeded")", sourceLocation: sourceLocation)
        return nil
    }

    /// All elements of a sequence.
    func all<Element: Sendable>(_ sequence: LoopSequence<Element>) throws -> [Element] {
        let iterator = sequence.makeAsyncIterator()
        var elements: [Element] = []
        while let element = try run(until: iterator.pull()) { elements.append(element) }
        return elements
    }
}

extension Data {
    var text: String { String(decoding: self, as: UTF8.self) }
}

/// Not by `FileManager`, which leaks a block for each file that is empty, as those of a process that has just gone.
func contents(_ path: String) -> String? {
    FileHandle(forReadingAtPath: path).map { file in (try? file.readToEnd())?.text ?? "" }
}

func put(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

/// Two directories, with a link between them, and one of another kind.
func makeTree(_ path: String) throws {
    for name in ["a/b/c", "d"] {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }
    try put("x", path + "/a/file")
    try put("x", path + "/a/b/c/file")
    try FileManager.default.createSymbolicLink(atPath: path + "/d/up", withDestinationPath: "../a")
    #expect(unsafe mkfifo(path + "/fifo", 0o600) == 0)
}

/// Runs `body` with an empty file that is open for reading and writing, and with its path.
func withFile(_ body: (EventLoop, File, String) throws -> Void) throws {
    try withDirectory { loop, directory, path in
        let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
        try body(loop, file, path + "/a")
        try loop.run(until: file.close())
    }
}

/// Many empty directories, of which the names are read at once, and one with a file.
func makeWideTree(_ path: String) throws {
    for name in (0..<600).map(String.init) + ["full"] {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }
    try put("kept", path + "/full/file")
}

/// More files in a directory than are looked at in one step.
func makeManyFiles(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for number in 0..<600 { try put("x", "\(path)/\(number)") }
}

/// Puts links in the place of some directories of a wide tree, after their names were read, but not of those that were
/// `seen`. The kernel would let links lead nowhere else but into the same directory.
func swapForLinks(_ path: String, _ seen: [String] = []) throws {
    let names = Set(try FileManager.default.contentsOfDirectory(atPath: path)).subtracting(seen + ["full"])
    for name in names.prefix(50) {
        try #require(unsafe rmdir("\(path)/\(name)") == 0)
        try #require(unsafe symlink("full", "\(path)/\(name)") == 0)
    }
}

/// Runs `body` with a file that is open, and with its contents.
func withSource(size: Int = 3_000_000, _ body: (EventLoop, File, Data) throws -> Void) throws {
    try withDirectory { loop, directory, path in
        // A length that no portion is a multiple of.
        let block = Data((0..<99_991).map { UInt8(truncatingIfNeeded: $0 / 3) })
        var bytes = Data(capacity: size + block.count)
        while bytes.count < size { bytes.append(block) }
        bytes.removeLast(bytes.count - size)
        try bytes.write(to: URL(filePath: path + "/a"))
        let file = try loop.run(until: directory.open("a"))
        try body(loop, file, bytes)
        try loop.run(until: file.close())
    }
}

extension EventLoop {
    /// Holds all threads of the pool for files, until the returned closure is called.
    func holdPool() throws -> () -> Void {
        let (gate, started) = (DispatchSemaphore(value: 0), Counter())
        let held = (0..<RemoteContext.files.limit!).map { _ in
            RemoteContext.files.execute(on: self) {
                started.add(1)
                gate.wait()
            }
        }
        try runUntil { started.value == held.count }
        return { for _ in held { gate.signal() } }
    }
}
