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

struct TreeWalkerTests {
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
            #expect(
                devices.contains { $0.path == "binfmt_misc" }
                    && !devices.contains { $0.path == "binfmt_misc/status" })
            try loop.run(until: proc.close())
        }
    }

    @Test("a directory that was swapped for a link since its name was read is not walked into")
    func swappedDirectories() throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeWideTree(path)
        let walker = TreeWalker(
            maxDepth: 2, maxEntries: 1000, staysOnDevice: false, FileName(path: ".", directory: path))
        try walker.begin(at: SystemFiles().openDirectory(at: path))
        var names = try walker.next().map(\.path)
        #expect(names.count == 256)
        try swapForLinks(path, names)
        while case let entries = try walker.next(), !entries.isEmpty { names += entries.map(\.path) }
        #expect(names.count == 602 && names.filter { $0.contains("/") } == ["full/file"])
    }

    @Test("a directory that others remove meanwhile has an end, and the first one is missed")
    func removedDirectories() throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeManyFiles(path + "/tree/a")
        let walker = TreeWalker(
            maxDepth: 2, maxEntries: 1000, staysOnDevice: false, FileName(path: "tree", directory: path))
        try walker.begin(at: SystemFiles().openDirectory(at: path + "/tree"))
        #expect(try walker.next().count == 256)
        try FileManager.default.removeItem(atPath: path + "/tree/a")
        while try !walker.next().isEmpty {}
        try walker.begin(at: SystemFiles().openDirectory(at: path + "/tree"))
        try FileManager.default.removeItem(atPath: path + "/tree")
        #expect(
            complaint { _ = try walker.next() }
                == "walk tree below \(path): getdents ENOENT: no such file or directory")
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
                    == "the directory a/b/c is more than 3 levels down; give a higher maxDepth")
            #expect(failure(directory.walk(maxEntries: 8)) == nil)
            #expect(
                failure(directory.walk(maxEntries: 7))
                    == "the tree has more than 7 entries; give a higher maxEntries, or walk its parts"
            )
            #expect(
                failure(directory.walk("fifo"))
                    == "walk fifo below \(path): openat2 ENOTDIR: not a directory")
        }
    }

    @Test("a walk goes through 128 directories in each other unless it is told otherwise")
    func defaultDepth() throws {
        try withDirectory { loop, directory, _ in
            // The one that is walked is the first.
            let deep = Array(repeating: "d", count: 127).joined(separator: "/")
            try loop.run(until: directory.makeDirectory(deep, withParents: true))
            #expect(try loop.all(directory.walk()).count == 127)
            try loop.run(until: directory.makeDirectory(deep + "/d"))
            #expect(
                complaint { _ = try loop.all(directory.walk()) }
                    == "the directory \(deep)/d is more than 128 levels down; give a higher maxDepth")
        }
    }
}
