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

    /// Removes what is called `tree`. `change` is called before the first calls that are `call` of `name`. What it throws,
    /// these calls throw.
    private func remove(
        _ path: String, tellsKinds: Bool = true, before call: String = "", of name: String = "",
        times: Int = 1, _ change: @escaping @Sendable () throws(SystemError) -> Void = {}
    ) throws {
        let count = Counter()
        let directory = OddDirectory(try SystemFiles().openDirectory(at: path), tellsKinds: tellsKinds) {
            made, path throws(SystemError) in
            if made == call, path.description == name, count.add(1) <= times { try change() }
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

    @Test(
        "a directory that others move about is removed where it was, whatever is there by now",
        arguments: ["", "empty", "gone", "file"])
    func moved(now: String) throws {
        try withTree { path in
            let (place, swapped) = (path + "/tree/sub", swap(path + "/tree/sub", for: .regularFile))
            try remove(path, before: "openUnmountedDirectory", of: "sub") { () throws(SystemError) in
                switch now {
                case "empty": try? FileManager.default.removeItem(atPath: place + "/b")
                case "gone": try? FileManager.default.removeItem(atPath: place)
                case "file": swapped()
                default: break
                }
                throw SystemError(.crossesDirectory, "openat2")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        }
    }

    @Test("a directory that cannot be removed is an error that names it, also if it is another one each time")
    func notRemoved() throws {
        for (call, code, text) in [
            ("removeDirectory", .inputOutput, "unlinkat EIO"),
            ("openUnmountedDirectory", .crossesDirectory, "rmdir ENOTEMPTY"),
        ] as [(String, SystemError.Code, String)] {
            try withTree { path in
                let error = complaint {
                    try remove(path, before: call, of: "sub", times: .max) { () throws(SystemError) in
                        throw SystemError(code, "unlinkat")
                    }
                }
                #expect(error?.hasPrefix("removeTree tree/sub below \(path): \(text)") == true)
                #expect(contents(path + "/tree/sub/b") == (code == .inputOutput ? nil : "x"))
            }
        }
    }

    @Test("a directory that is gone when it is walked into has no entries, and another error names it")
    func walkedInto() throws {
        try withTree { path throws in
            func walk(_ code: SystemError.Code) throws -> Set<String> {
                let walker = TreeWalker(
                    maxDepth: 9, maxEntries: 99, staysOnDevice: false, FileName(path: ".", directory: path))
                let directory = OddDirectory(try SystemFiles().openDirectory(at: path)) {
                    call, name throws(SystemError) in
                    if call == "openDirectory", name.description == "sub" {
                        throw SystemError(code, "openat2")
                    }
                }
                try walker.begin(at: directory)
                return Set(try walker.next().map(\.path))
            }
            for code in [.notFound, .crossesDirectory, .notDirectory, .tooManyLinks] as [SystemError.Code] {
                #expect(try walk(code) == ["tree", "tree/a", "tree/sub"])
            }
            let error = complaint { _ = try walk(.inputOutput) }
            #expect(error?.hasPrefix("walk ./tree/sub below \(path): openat2 EIO") == true)
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
