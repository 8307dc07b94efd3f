import Futures
import Testing

@testable import SystemIO
@testable import UVFutures

struct PathTrailTests {
    /// Counts the directories that are watched, from 1 on, and remembers them by their descriptor's path.
    private struct Watcher: DirectoryWatcher {
        let inodes = Numbers()
        /// What others do just before the first watch of names.
        var beforeFirstWatch: @Sendable () -> Void = {}

        func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
            // Those that are watched for their own renames alone have numbers of their own.
            if changes == .selfMoved { return 1000 }
            if inodes.isEmpty { beforeFirstWatch() }
            return inodes.number(of: try directory.information(of: .here, followsLink: false).inode)
        }

        func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
            WatchedPlace(watch: -(try watch(directory, for: .ofNames)), name: .here)
        }

        func watchMounted(
            _ name: RelativePath, in directory: any DirectoryHandle
        ) throws(SystemError) -> CInt? { nil }

        func mounts(below directory: any DirectoryHandle) -> (all: MountTable, below: MountTable) {
            (MountTable(), MountTable())
        }
    }

    private final class Numbers: Sendable {
        private let inodes = Locked<[UInt64]>([])

        var isEmpty: Bool { inodes.withLock(\.isEmpty) }

        func number(of inode: UInt64) -> CInt {
            inodes.withLock { inodes in
                if let index = inodes.firstIndex(of: inode) { return CInt(index) }
                inodes.append(inode)
                return CInt(inodes.count - 1)
            }
        }
    }

    private func trail(_ path: String) throws -> PathTrail {
        try PathTrail(path, to: .file, SystemFiles(), Watcher())
    }

    @Test("the way to a file is its directory, and those of the links on it")
    func places() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "b", "c"] { directory.makeDirectory(name) }
        directory.write("c/file", "text")
        directory.link("b/inner", to: "../c")
        directory.link("a/outer", to: directory.url("b/inner/file"))
        let plain = try trail(directory.url("c/file"))
        #expect(plain.places.map(\.name.description) == ["file"])
        #expect(plain.end == plain.places[0] && plain.file?.size == 4)
        let linked = try trail(directory.url("a/outer"))
        #expect(linked.places.map(\.name.description) == ["outer", "inner", "file"])
        #expect(linked.places.map(\.watch) == [0, 1, 2])
        #expect(linked.above.map(\.watch) == [0, -1, -2])
        #expect(linked.file?.inode == plain.file?.inode)
    }

    @Test("a file that is not there has a place, and a link that leads nowhere ends where it does")
    func absent() throws {
        let directory = TemporaryDirectory()
        directory.link("link", to: "no/file")
        let absent = try trail(directory.url("file"))
        #expect(absent.file == nil && absent.end == absent.places[0])
        let nowhere = try trail(directory.url("link"))
        #expect(nowhere.places.map(\.name.description) == ["link", "no"])
        #expect(nowhere.end == nil && nowhere.file == nil)
    }

    @Test(
        "what appears between the look at its name and the watch of its directory is found",
        arguments: [false, true])
    func appearing(isLink: Bool) throws {
        let directory = TemporaryDirectory()
        directory.write("other", "text")
        let watcher = Watcher(beforeFirstWatch: {
            if isLink { directory.link("file", to: "other") } else { directory.write("file", "text") }
        })
        let trail = try PathTrail(directory.url("file"), to: .file, SystemFiles(), watcher)
        #expect(trail.places.map(\.name.description) == (isLink ? ["file", "other"] : ["file"]))
        #expect(trail.file?.size == 4)
    }

    @Test("a directory of the path itself that is not there is an error, and so is a file in its place")
    func missing() {
        let directory = TemporaryDirectory()
        directory.write("file")
        #expect(throws: FileWatchError.removed(path: directory.url("no"))) {
            try trail(directory.url("no/x/y"))
        }
        #expect(throws: FileWatchError.removed(path: directory.url("file"))) {
            try trail(directory.url("file/x"))
        }
    }

    @Test("a path may be relative, lead upwards, and have components that say nothing")
    func relative() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("a")
        directory.write("file")
        #expect(try trail(directory.url("a/.././/file")).file?.size == 1)
        #expect(try trail("../../../../../../../../../../../..\(directory.url("file"))").file?.size == 1)
        #expect(try trail("no-such-file-here").end?.name.description == "no-such-file-here")
    }
}
