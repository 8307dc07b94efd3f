import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct TreeRemoverTests {
    @Test("a tree is removed with everything in it, and what its links lead to stays")
    func removesTree() throws {
        try withDirectory { loop, directory, path in
            try makeTree(path)
            try put("x", path + "/file")
            for number in 0..<1000 { try put("", "\(path)/a/b/\(number)") }
            // A name that is no UTF-8.
            let bad = unsafe open(path + "/a/\u{e9}", O_CREAT, 0o600)
            close(bad)
            let raw: [CChar] =
                Array((path + "/a/").utf8.map { CChar(bitPattern: $0) }) + [CChar(bitPattern: 0xff), 0]
            close(unsafe raw.withUnsafeBufferPointer { unsafe open($0.baseAddress!, O_CREAT, 0o600) })
            #expect(try loop.all(directory.entries(of: "a")).contains { $0.name == "\u{fffd}" })
            let outside = try loop.run(until: directory.openDirectory("d"))
            try put("kept", path + "/d/kept")
            try FileManager.default.createSymbolicLink(
                atPath: path + "/a/b/c/out", withDestinationPath: path + "/d")
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

    @Test(
        "a tree that others add to is removed all the same, and parts that are swapped for links lead nowhere"
    )
    func removesUnderAttack() throws {
        try withDirectory { loop, directory, path in
            let outside = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: outside) }
            try FileManager.default.createDirectory(
                atPath: outside + "/x", withIntermediateDirectories: false)
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
}
