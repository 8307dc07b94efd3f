import Foundation
import Futures
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

/// Trees on file systems that do not say what their entries are, and trees that others change between two calls.
struct OddTreeTests {
    private func withTree(_ body: (String) throws -> Void) throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.createDirectory(
            atPath: path + "/tree/sub", withIntermediateDirectories: true)
        for name in ["tree/a", "tree/sub/b"] { try put("x", "\(path)/\(name)") }
        try body(path)
    }

    /// Removes what is called `tree`. `change` is called once, before the first call that is `call` of `name`.
    private func remove(
        _ path: String, tellsKinds: Bool = true, before call: String = "", of name: String = "",
        _ change: @escaping @Sendable () -> Void = {}
    ) throws {
        let isDone = Counter()
        let directory = OddDirectory(try SystemFiles().openDirectory(at: path), tellsKinds: tellsKinds) {
            made, path throws(SystemError) in
            if made == call, path.description == name, isDone.add(1) == 1 { change() }
        }
        let remover = TreeRemover(maxDepth: 9, FileName(path: "tree", directory: path))
        if try remover.begin(with: RelativePath(bytes: Array("tree".utf8)), in: directory) { return }
        while try !remover.step() {}
    }

    private func swap(_ path: String, for kind: FileKind) -> @Sendable () -> Void {
        {
            try? FileManager.default.removeItem(atPath: path)
            switch kind {
            case .directory: #expect(unsafe mkdir(path, 0o700) == 0)
            case .symbolicLink: #expect(unsafe symlink("/nowhere", path) == 0)
            default: #expect((try? put("swapped", path)) != nil)
            }
        }
    }

    @Test("a tree is walked and removed where the kinds of its entries are not told")
    func unknownKinds() throws {
        try withTree { path in
            #expect(unsafe symlink("a", path + "/tree/link") == 0)
            #expect(unsafe mkfifo(path + "/tree/fifo", 0o600) == 0)
            let walker = TreeWalker(
                maxDepth: 9, maxEntries: 99, staysOnDevice: false, FileName(path: ".", directory: path))
            try walker.begin(at: OddDirectory(SystemFiles().openDirectory(at: path), tellsKinds: false))
            #expect(
                Set(try walker.next().map(\.path))
                    == ["tree", "tree/a", "tree/sub", "tree/sub/b", "tree/link", "tree/fifo"])
            try remove(path, tellsKinds: false)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        }
    }

    @Test(
        "an entry that others swap for one of another kind is removed itself, whenever they do that",
        arguments: [.regularFile, .symbolicLink] as [FileKind])
    func swapped(kind: FileKind) throws {
        for (call, name) in [("openUnmountedDirectory", "tree"), ("openUnmountedDirectory", "sub")] {
            try withTree { path in
                let place = name == "tree" ? "\(path)/tree" : "\(path)/tree/sub"
                try remove(path, before: call, of: name, swap(place, for: kind))
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty, "\(name)")
            }
        }
    }

    @Test("a file that others swap for a directory, or an empty directory for a file, is removed, too")
    func swappedLate() throws {
        for (call, name, place, kind) in [
            ("remove", "a", "tree/a", .directory), ("removeDirectory", "sub", "tree/sub", .regularFile),
            ("removeDirectory", "tree", "tree", .regularFile),
        ] as [(String, String, String, FileKind)] {
            try withTree { path in
                try remove(path, before: call, of: name, swap("\(path)/\(place)", for: kind))
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty, "\(place)")
            }
        }
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try put("x", path + "/tree")
        try remove(path, before: "remove", of: "tree", swap(path + "/tree", for: .directory))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("an entry that others have removed when its turn comes is no error")
    func gone() throws {
        for (call, name, place) in [
            ("remove", "a", "tree/a"), ("openUnmountedDirectory", "sub", "tree/sub"),
            ("removeDirectory", "sub", "tree/sub"), ("removeDirectory", "tree", "tree"),
        ] {
            try withTree { path in
                try remove(path, before: call, of: name) {
                    try? FileManager.default.removeItem(atPath: "\(path)/\(place)")
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty, "\(place)")
            }
        }
    }

    @Test("a replacement that fails leaves the old file, and nothing else")
    func failedReplacement() throws {
        try withTree { path in
            try withLoop { loop in
                let directory = try OddDirectory.open(path, on: loop) { call, _ throws(SystemError) in
                    if call == "rename" { throw SystemError(.inputOutput, "rename") }
                }
                #expect(loop.code(of: directory.replace("tree/a", with: Data("y".utf8))) == .inputOutput)
                #expect(contents(path + "/tree/a") == "x")
                let names = try FileManager.default.contentsOfDirectory(atPath: path + "/tree")
                #expect(names.sorted() == ["a", "sub"])
                try loop.run(until: directory.close())
            }
        }
    }

    @Test("a name is put on the disk only if that is asked for, and an error of that is told")
    func durably() throws {
        try withTree { path in
            try withLoop { loop in
                let directory = try OddDirectory.open(path, on: loop) { call, _ throws(SystemError) in
                    if call == "sync" { throw SystemError(.inputOutput, "fsync") }
                }
                let bytes = Data("y".utf8)
                for name in ["new", "tree/new"] {
                    #expect(loop.code(of: directory.replace(name, with: bytes)) == .inputOutput)
                    #expect(loop.code(of: directory.append(bytes, to: name, durably: true)) == .inputOutput)
                    try loop.run(until: directory.replace(name, with: bytes, durably: false))
                    try loop.run(until: directory.append(bytes, to: name))
                    #expect(contents("\(path)/\(name)") == "yy")
                }
                try loop.run(until: directory.close())
            }
        }
    }
}
