import CFuturesSystem
import CHeap
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
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
            #expect(try loop.all(directory.entries(of: "a")).contains { $0.name == "\u{10FFFF}" })
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
                    == "the directory a/b/c is more than 2 levels down; give a higher maxDepth")
            try loop.run(until: directory.removeTree("a", maxDepth: 3))
            let deep = (0..<100).map { _ in "d" }.joined(separator: "/")
            try loop.run(until: directory.makeDirectory(deep, withParents: true))
            try loop.run(until: directory.removeTree("d"))
        }
    }

    /// What is mounted in a tree that is removed.
    private enum Mount: String, CaseIterable, Codable {
        case fileSystem, directoryOutside, directoryOfTheTree, emptyDirectory, file, overTheTree
    }

    @Test(
        "what is mounted in a tree stays as it is, and the error names it", .asRoot, arguments: Mount.allCases
    )
    private func removesNothingMounted(mounted: Mount) async {
        await #expect(processExitsWith: .success) { [mounted] in
            // Its own view of what is mounted, which ends with this process. Threads that start later have it, too.
            #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
            #expect(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
            try withDirectory { loop, directory, path in
                for name in ["outside", "empty", "up/tree/a/b", "up/tree/c"] {
                    try loop.run(until: directory.makeDirectory(name, withParents: true))
                }
                for name in ["outside/kept", "file", "up/tree/a/b/x", "up/tree/a/x", "up/tree/c/kept"] {
                    try put("kept", "\(path)/\(name)")
                }
                let (source, place, kept) =
                    switch mounted {
                    case .fileSystem: ("tmpfs", "up/tree/a/b", "up/tree/a/b/kept")
                    case .directoryOutside: ("outside", "up/tree/a/b", "outside/kept")
                    case .directoryOfTheTree: ("up/tree/c", "up/tree/a/b", "up/tree/a/b/kept")
                    case .emptyDirectory: ("empty", "up/tree/a/b", "empty")
                    case .file: ("file", "up/tree/a/b/x", "file")
                    case .overTheTree: ("outside", "up/tree", "outside/kept")
                    }
                let target = "\(path)/\(place)"
                if mounted == .fileSystem {
                    #expect(unsafe Glibc.mount("tmpfs", target, "tmpfs", 0, nil) == 0)
                    try put("kept", "\(path)/\(kept)")
                } else {
                    #expect(unsafe Glibc.mount("\(path)/\(source)", target, nil, UInt(MS_BIND), nil) == 0)
                }
                let error = loop.failure(of: directory.removeTree("up/tree")) as? FileError
                let call = mounted == .file ? "unlink" : "rmdir"
                #expect(
                    error.map { "\($0)" }
                        == "removeTree \(place) below \(path): \(call) EBUSY: resource busy or locked (something is "
                        + "mounted there, or the system uses it; unmount it, and repeat)")
                // What is bound from the tree itself may have gone by its own name.
                if mounted != .directoryOfTheTree
                    || FileManager.default.fileExists(atPath: path + "/up/tree/c/kept")
                {
                    #expect(FileManager.default.fileExists(atPath: "\(path)/\(kept)"))
                }
                #expect(unsafe umount2(target, CInt(MNT_DETACH)) == 0)
                try loop.run(until: directory.removeTree("up/tree"))
                #expect(try loop.all(directory.entries(of: "up")).isEmpty)
            }
        }
    }

    /// Begins to remove the tree that `make` has made, lets others do `change` after the first step, and removes the rest.
    private func removeTree(_ make: (String) throws -> Void, while change: (String) throws -> Void) throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try make(path + "/tree")
        let directory = try SystemFiles().openDirectory(at: path)
        let remover = TreeRemover(maxDepth: 2, FileName(path: "tree", directory: path))
        #expect(try !remover.begin(with: RelativePath(bytes: Array("tree".utf8)), in: directory))
        #expect(try !remover.step())
        try change(path + "/tree")
        while try !remover.step() {}
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        try directory.close()
    }

    @Test("what is swapped for a link, or added, after the names were read is removed, too")
    func removesLateEntries() throws {
        try removeTree(makeWideTree) { tree in
            try swapForLinks(tree)
            try put("late", tree + "/late")
        }
    }

    @Test("a directory that others remove meanwhile is no error", arguments: ["", "/a"])
    func removesWhatOthersRemove(removed: String) throws {
        try removeTree(
            { tree in try makeManyFiles(tree + "/a") },
            while: { tree in try FileManager.default.removeItem(atPath: tree + removed) })
    }

    @Test(
        "a tree that others add to is removed all the same, and parts that are swapped for links lead nowhere"
    )
    func removesUnderAttack() throws {
        try withDirectory { loop, directory, path in
            let outside = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: outside) }
            // Below the directory too: the kernel lets links lead there.
            let places = [outside, outside + "/x", path + "/beside"]
            for place in places {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                for number in 0..<50 { try put("kept", "\(place)/\(number)") }
            }
            let (isOver, group) = (Counter(), DispatchGroup())
            startThread(of: group) {
                let link = path + "/link"
                while isOver.value == 0 {
                    for (name, target) in [("x", outside), ("y", "../beside")] {
                        _ = unsafe symlink(target, link)
                        // Both names change at once: what was a directory is a link.
                        _ = unsafe rename_with_flags(AT_FDCWD, "\(path)/tree/\(name)", AT_FDCWD, link, 2)
                        try? FileManager.default.removeItem(atPath: link)
                    }
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
                    // Others were too quick, again and again; or they have moved the tree away.
                    let codes: [SystemError.Code] = [
                        .directoryNotEmpty, .notFound, .notDirectory, .isDirectory, .tooManyLinks,
                    ]
                    #expect(codes.contains(error.code), "\(error)")
                case .failure(let error): Issue.record("\(error)")
                }
            }
            isOver.value = 1
            group.wait()
            #expect(removals > 0)
            for (place, count) in zip(places, [51, 50, 50]) {
                #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == count, "\(place)")
            }
        }
    }
}
