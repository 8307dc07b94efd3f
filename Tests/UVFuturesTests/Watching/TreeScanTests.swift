import CFuturesSystem
import CLibUV
import Futures
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct TreeScanTests {
    private struct Watcher: DirectoryWatcher {
        let before: @Sendable (any DirectoryHandle) -> Void
        var refusal: @Sendable (UInt64) -> SystemError.Code? = { _ in nil }

        func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
            before(directory)
            let inode = try directory.information(of: .here, followsLink: false).inode
            // The path to the root is watched for other changes.
            if changes == .ofFiles, let code = refusal(inode) { throw SystemError(code, "inotify_add_watch") }
            return 1
        }

        func watchAbove(_ directory: any DirectoryHandle) -> WatchedPlace? {
            WatchedPlace(watch: 2, name: RelativePath(bytes: Array("name".utf8)))
        }

        func watchMounted(
            _ name: RelativePath, in directory: any DirectoryHandle
        ) throws(SystemError) -> CInt? { nil }

        func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable) {
            (MountTable(), MountTable())
        }
    }

    private func scan(
        _ directory: TemporaryDirectory, below name: String = "", _ path: [String] = [], parent: CInt? = nil,
        isRecursive: Bool = true, limit: Int = 100,
        identity: TreeScan.Identity? = nil,
        before: @escaping @Sendable (any DirectoryHandle) -> Void = { _ in },
        refusal: @escaping @Sendable (UInt64) -> SystemError.Code? = { _ in nil }
    ) throws -> TreeScan {
        let order = TreeScan.Order(
            root: directory.path + name, identity: identity, path: path.map { RelativePath(checked: $0) },
            parent: parent, isRecursive: isRecursive, limit: limit)
        return try TreeScan.scan(order, in: SystemFiles(), Watcher(before: before, refusal: refusal))
    }

    @Test("a scan finds directories and files in the order of their names")
    func order() throws {
        let directory = TemporaryDirectory()
        for name in ["b", "b/c", "a"] { directory.makeDirectory(name) }
        for name in ["z", "b/y", "b/x"] { directory.write(name) }
        let found = try scan(directory)
        #expect(found.directories.map(\.name.description) == [".", "a", "b", "c"])
        #expect(found.directories.map(\.parent) == [nil, 0, 0, 2])
        #expect(found.directories.map { $0.files.map(\.description) } == [["z"], [], ["x", "y"], []])
        #expect(found.trail?.end?.watch == 2)
        let flat = try scan(directory, isRecursive: false)
        #expect(flat.directories.map { $0.files.map(\.description) } == [["a", "b", "z"]])
    }

    @Test("each directory is watched before it is listed")
    func watchedFirst() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("a")
        var opening = FileOpening()
        opening.writes = true
        opening.creation = .ifMissing
        let found = try scan(directory) { [opening] handle in
            // What is made in this moment is told by an event, or found by the scan.
            _ = try? handle.openFile(RelativePath(bytes: Array("made".utf8)), opening)
        }
        #expect(found.directories.map { $0.files.map(\.description) } == [["made"], ["made"]])
    }

    @Test("a link that takes a directory's name after it was listed is not followed")
    func linkInPlace() throws {
        let (directory, outside) = (TemporaryDirectory(), TemporaryDirectory())
        for name in ["a", "b"] { directory.makeDirectory(name) }
        outside.write("secret")
        let (name, target) = (directory.url("b"), outside.path)
        let first = try scan(directory, below: "/a").root.inode
        let found = try scan(directory) { handle in
            // The root has been listed when the first directory in it is watched.
            guard (try? handle.information(of: .here, followsLink: false).inode) == first else { return }
            _ = unsafe rmdir(name)
            _ = unsafe symlink(target, name)
        }
        #expect(found.directories.map(\.name.description) == [".", "a"])
        #expect(found.directories.map { $0.files.map(\.description) } == [["b"], []])
    }

    @Test("a root that another directory replaces before the one above is watched is looked for again")
    func replacedRoot() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("root")
        directory.write("root/old")
        let (root, aside) = (directory.url("root"), directory.url("aside"))
        let found = try scan(directory, below: "/root") { _ in
            guard unsafe access(aside, F_OK) != 0 else { return }
            _ = unsafe rename(root, aside)
            _ = unsafe mkdir(root, 0o755)
        }
        #expect(found.directories.map { $0.files.count } == [0])
    }

    @Test("a root that is another directory by now, or too large, is an error")
    func refused() throws {
        let (directory, other) = (TemporaryDirectory(), TemporaryDirectory())
        let identity = try scan(other).root
        #expect(throws: FileWatchError.moved(path: directory.path)) {
            try scan(directory, identity: identity)
        }
        directory.makeDirectory("a")
        #expect(throws: FileWatchError.tooManyDirectories(path: directory.path, limit: 1)) {
            try scan(directory, limit: 1)
        }
    }

    @Test("a part of a tree is scanned in the directory that it is in, and not in another one of that name")
    func parent() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b"] { directory.makeDirectory(name) }
        directory.write("a/b/x")
        #expect(try scan(directory, ["a", "b"], parent: 1).directories.map(\.files.count) == [1])
        #expect(throws: GoneDirectory.self) { try scan(directory, ["a", "b"], parent: 2) }
        #expect(throws: GoneDirectory.self) { try scan(directory, ["a", "b"]) }
        #expect(throws: GoneDirectory.self) { try scan(directory, ["a", "c"], parent: 1) }
    }

    @Test("a part of a tree is not scanned where a link has its name by now")
    func link() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "a/c"] { directory.makeDirectory(name) }
        directory.write("a/c/x")
        directory.link("a/b", to: "c")
        #expect(try scan(directory, ["a", "c"], parent: 1).directories.map(\.files.count) == [1])
        #expect(throws: GoneDirectory.self) { try scan(directory, ["a", "b"], parent: 1) }
    }

    @Test("a directory that may not be watched is told as a file, and what the root fails with ends the scan")
    func unwatchable() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b"] { directory.makeDirectory(name) }
        func refuse(
            _ name: String, _ code: SystemError.Code
        ) throws -> @Sendable (UInt64) -> SystemError.Code? {
            var status = stat()
            try #require(unsafe stat(directory.url(name), &status) == 0)
            return { [inode = UInt64(status.st_ino)] in $0 == inode ? code : nil }
        }
        for code in [.notFound, .permissionDenied] as [SystemError.Code] {
            let error = SystemError(code, "inotify_add_watch")
            let found = try scan(directory, refusal: refuse("a", code))
            #expect(found.directories.map { $0.files.map(\.description) } == [["a"]])
            #expect(throws: error) { try scan(directory, refusal: refuse("", code)) }
            // A part of the tree, the directory that it is in, and the root as that directory.
            #expect(throws: GoneDirectory.self) {
                try scan(directory, ["a"], parent: 1, refusal: refuse("a", code))
            }
            #expect(throws: GoneDirectory.self) {
                try scan(directory, ["a", "b"], parent: 1, refusal: refuse("a", code))
            }
            #expect(throws: error) { try scan(directory, ["a"], parent: 1, refusal: refuse("", code)) }
            #expect(
                try scan(directory, ["a", "b"], parent: 1, refusal: refuse("", code)).directories.count == 1)
        }
        #expect(throws: SystemError(.noSpace, "inotify_add_watch")) {
            try scan(directory, refusal: refuse("a", .noSpace))
        }
        let long = String(repeating: "x", count: 300)
        #expect(throws: SystemError(-ENAMETOOLONG, "openat2")) { try scan(directory, [long], parent: 1) }
    }

    @Test("what was a directory when its name was read, and is gone when it is opened, is told as a file")
    func gone() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "b"] { directory.makeDirectory(name) }
        let (next, aside) = (directory.url("b"), directory.url("aside"))
        var status = stat()
        #expect(unsafe stat(directory.url("a"), &status) == 0)
        let first = UInt64(status.st_ino)
        // While `a` is watched, all names have been read.
        let found = try scan(directory) { [first] handle in
            if try! handle.information(of: .here, followsLink: false).inode == first {
                _ = unsafe rename(next, aside)
            }
        }
        #expect(found.directories.map(\.name.description) == [".", "a"])
        #expect(found.directories.map { $0.files.map(\.description) } == [["b"], []])
    }
}
