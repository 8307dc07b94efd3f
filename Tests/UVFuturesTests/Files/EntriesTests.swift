import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct EntriesTests {
    @Test("all entries come once, with their kinds, in several portions")
    func entries() throws {
        try withDirectory { loop, directory, path in
            #expect(try loop.all(directory.entries()).isEmpty)
            for number in 0..<3000 { try put("", "\(path)/a file with a long name, number \(number)") }
            try FileManager.default.createDirectory(atPath: path + "/sub", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "sub")
            let sequence = directory.entries()
            for _ in 0..<2 {
                let entries = try loop.all(sequence)
                #expect(Set(entries.map(\.name)).count == 3002 && entries.count == 3002)
                #expect(entries.first { $0.name == "sub" }?.kind == .directory)
                #expect(entries.first { $0.name == "link" }?.kind == .symbolicLink)
                #expect(entries.count { $0.kind == .regularFile } == 3000)
            }
            #expect(try loop.all(directory.entries(of: "link")).isEmpty)
            #expect(throws: FileError.self) { try loop.all(directory.entries(of: "missing")) }
        }
    }

    @Test("a consumer that is cancelled loses no entry, and one that breaks off leaves nothing open")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            try withDirectory { loop, directory, path in
                for number in 0..<100 { try put("", "\(path)/\(number)") }
                let before = openDescriptors()
                let body = Future(on: loop) {
                    var count = 0
                    let sequence = directory.entries()
                    let iterator = sequence.makeAsyncIterator()
                    // Cancelled while the first portion is read.
                    let first = iterator.pull()
                    first.cancel()
                    while let _ = try await iterator.pull().value { count += 1 }
                    for try await _ in directory.entries() { break }
                    for try await _ in directory.walk() { break }
                    return count
                }
                #expect(try loop.run(until: body) == 100)
                try loop.run()
                #expect(eventually { openDescriptors().isSubset(of: before) })
            }
        }
    }

    @Test("a walk brings each directory before its entries, and follows no link")
    func walks() throws {
        try withDirectory { loop, directory, path in
            try makeTree(path)
            let entries = try loop.all(directory.walk())
            #expect(
                Set(entries.map(\.path))
                    == ["a", "a/b", "a/b/c", "a/b/c/file", "a/file", "d", "d/up", "fifo"])
            for entry in entries {
                #expect(entry.depth == entry.path.count { $0 == "/" })
                guard let slash = entry.path.lastIndex(of: "/") else { continue }
                let parent = entries.firstIndex { $0.path == entry.path[..<slash] }!
                #expect(parent < entries.firstIndex(of: entry)! && entries[parent].kind == .directory)
            }
            #expect(entries.first { $0.path == "d/up" }?.kind == .symbolicLink)
            #expect(try loop.all(directory.walk("a/b")).map(\.path) == ["c", "c/file"])
            #expect(try loop.all(directory.walk(staysOnDevice: true)).count == 8)
            let proc = try loop.run(until: Directory.open("/", on: loop))
            let devices = try loop.all(proc.walk("proc/sys/fs", maxEntries: 100_000, staysOnDevice: true))
            #expect(devices.contains { $0.path == "binfmt_misc" } && !devices.contains { $0.path == "binfmt_misc/status" })
            try loop.run(until: proc.close())
        }
    }

    @Test("a walk ends at its limits with a sentence")
    func limits() throws {
        try withDirectory { loop, directory, path in
            try makeTree(path)
            func failure(_ sequence: LoopSequence<TreeEntry>) -> String? {
                complaint { _ = try loop.all(sequence) }
            }
            #expect(failure(directory.walk(maxDepth: 4)) == nil)
            #expect(
                failure(directory.walk(maxDepth: 3))
                    == "the directory a/b/c is more than 3 levels down, the limit; give a higher maxDepth")
            #expect(failure(directory.walk(maxEntries: 8)) == nil)
            #expect(
                failure(directory.walk(maxEntries: 7))
                    == "the tree has more than 7 entries, the limit; give a higher maxEntries, or walk its parts")
            #expect(
                failure(directory.walk("fifo"))
                    == "walk fifo below \(path): openat2 ENOTDIR: not a directory")
        }
    }

    @Test("a tree is removed with everything in it, and what its links lead to stays")
    func removesTree() throws {
        try withDirectory { loop, directory, path in
            try makeTree(path)
            try put("x", path + "/file")
            for number in 0..<1000 { try put("", "\(path)/a/b/\(number)") }
            // A name that is no UTF-8.
            let bad = unsafe open(path + "/a/\u{e9}", O_CREAT, 0o600)
            close(bad)
            let raw: [CChar] = Array((path + "/a/").utf8.map { CChar(bitPattern: $0) }) + [CChar(bitPattern: 0xff), 0]
            close(unsafe raw.withUnsafeBufferPointer { unsafe open($0.baseAddress!, O_CREAT, 0o600) })
            #expect(try loop.all(directory.entries(of: "a")).contains { $0.name == "\u{fffd}" })
            let outside = try loop.run(until: directory.openDirectory("d"))
            try put("kept", path + "/d/kept")
            try FileManager.default.createSymbolicLink(atPath: path + "/a/b/c/out", withDestinationPath: path + "/d")
            for name in ["a", "fifo", "file", "d/up"] { try loop.run(until: directory.removeTree(name)) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["d"])
            #expect(contents(path + "/d/kept") == "kept")
            #expect(loop.code(of: directory.removeTree("a")) == .notFound)
            try loop.run(until: outside.close())
        }
    }

    @Test("a tree that is too deep is not removed without end")
    func removesDeepTree() throws {
        try withDirectory { loop, directory, path in
            try makeTree(path)
            #expect(
                "\(loop.failure(of: directory.removeTree("a", maxDepth: 2))!)"
                    == "the directory a/b/c is more than 2 levels down, the limit; give a higher maxDepth")
            try loop.run(until: directory.removeTree("a", maxDepth: 3))
            let deep = (0..<100).map { _ in "d" }.joined(separator: "/")
            try loop.run(until: directory.makeDirectory(deep, withParents: true))
            try loop.run(until: directory.removeTree("d"))
        }
    }

    @Test("a tree that others add to is removed all the same, and parts that are swapped for links lead nowhere")
    func removesUnderAttack() throws {
        try withDirectory { loop, directory, path in
            let outside = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: outside) }
            try FileManager.default.createDirectory(atPath: outside + "/x", withIntermediateDirectories: false)
            for number in 0..<50 {
                try put("kept", "\(outside)/\(number)")
                try put("kept", "\(outside)/x/\(number)")
            }
            let (isOver, group) = (Counter(), DispatchGroup())
            startThread(of: group) {
                _ = unsafe symlink(outside, path + "/link")
                while isOver.value == 0 {
                    _ = unsafe rename_with_flags(AT_FDCWD, path + "/tree/x", AT_FDCWD, path + "/link", 2)
                    _ = unsafe rename_with_flags(AT_FDCWD, path + "/tree/y", AT_FDCWD, path + "/link", 2)
                }
            }
            let end = loop.now.advanced(by: isSoaking ? .seconds(10) : .seconds(1))
            var removals = 0
            while loop.now < end {
                for name in ["tree/x", "tree/y", "tree/z"] {
                    try? FileManager.default.createDirectory(
                        atPath: "\(path)/\(name)", withIntermediateDirectories: true)
                }
                for number in 0..<20 { try? put("", "\(path)/tree/x/\(number)") }
                switch loop.outcome(of: directory.removeTree("tree")) {
                case .success: removals += 1
                case .failure(let error as FileError):
                    #expect(error.code == .directoryNotEmpty || error.code == .notFound, "\(error)")
                case .failure(let error): Issue.record("\(error)")
                }
            }
            isOver.value = 1
            group.wait()
            #expect(removals > 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside).count == 51)
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside + "/x").count == 50)
        }
    }

    /// Two directories, with a link between them, and one of another kind.
    private func makeTree(_ path: String) throws {
        for name in ["a/b/c", "d"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
        try put("x", path + "/a/file")
        try put("x", path + "/a/b/c/file")
        try FileManager.default.createSymbolicLink(atPath: path + "/d/up", withDestinationPath: "../a")
        #expect(unsafe mkfifo(path + "/fifo", 0o600) == 0)
    }
}
