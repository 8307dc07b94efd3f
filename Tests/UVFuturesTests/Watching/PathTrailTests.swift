import Futures
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct PathTrailTests {
    /// Counts the directories that are watched, from 1 on, and remembers them by their descriptor's path.
    private struct Watcher: DirectoryWatcher {
        let inodes = Numbers()
        /// What others do just before the first watch of names, and before the first one of the next directory.
        var beforeFirstWatch: @Sendable () -> Void = {}
        var beforeSecondWatch: @Sendable () -> Void = {}
        /// The error of the system, by what was watched until now, and for what.
        var refusal: @Sendable ([FileEventMask]) -> SystemError.Code? = { _ in nil }

        func watch(_ directory: any DirectoryHandle, for changes: FileEventMask) throws(SystemError) -> CInt {
            if let code = refusal(inodes.asked(changes)) { throw SystemError(code, "inotify_add_watch") }
            // Those that are watched for their own renames alone have numbers of their own.
            if changes == .selfMoved { return 1000 }
            let inode = try directory.information(of: .here, followsLink: false).inode
            if inodes.count == 0 { beforeFirstWatch() }
            if inodes.count == 1, inodes.number(of: inode) == 1 { beforeSecondWatch() }
            return inodes.number(of: inode)
        }

        func watchAbove(_ directory: any DirectoryHandle) throws(SystemError) -> WatchedPlace? {
            WatchedPlace(watch: -(try watch(directory, for: .ofReplacement)), name: .here)
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
        private let masks = Locked<[FileEventMask]>([])

        var count: Int { inodes.withLock(\.count) }

        func number(of inode: UInt64) -> CInt {
            inodes.withLock { inodes in
                if let index = inodes.firstIndex(of: inode) { return CInt(index) }
                inodes.append(inode)
                return CInt(inodes.count - 1)
            }
        }

        /// Notes what a directory was watched for. Returns all that was noted.
        func asked(_ changes: FileEventMask) -> [FileEventMask] {
            masks.withLock { masks in
                masks.append(changes)
                return masks
            }
        }

        /// What was asked last, except for the directories' own renames and replacements.
        var namesAsked: [FileEventMask] {
            masks.withLock { $0.filter { $0 != .selfMoved && $0 != .ofReplacement } }
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
        // Only the directory of the file tells what is written, and wakes the program for that.
        let watcher = Watcher()
        _ = try PathTrail(directory.url("a/outer"), to: .file, SystemFiles(), watcher)
        #expect(watcher.inodes.namesAsked.suffix(3) == [.ofNames, .ofNames, .ofFiles])
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

    @Test("what appears where a link leads that appeared itself is found")
    func appearingBehindLink() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("other")
        var watcher = Watcher(beforeFirstWatch: { directory.link("file", to: "other/file") })
        watcher.beforeSecondWatch = { directory.write("other/file", "text") }
        let trail = try PathTrail(directory.url("file"), to: .file, SystemFiles(), watcher)
        #expect(trail.places.map(\.name.description) == ["file", "file"] && trail.file?.size == 4)
    }

    @Test("a path may lead through 40 links, as in the system")
    func manyLinks() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("d0")
        directory.write("f0")
        for number in 1...41 {
            for kind in ["d", "f"] { directory.link("\(kind)\(number)", to: "\(kind)\(number - 1)") }
        }
        #expect(try trail(directory.url("f40")).file?.size == 1)
        let more = try trail(directory.url("f41"))
        #expect(more.file == nil && more.end == nil)
        func follow(_ name: String) throws -> PathTrail {
            try PathTrail(directory.url(name), to: .directory, SystemFiles(), Watcher())
        }
        #expect(try follow("d40").file != nil)
        #expect(throws: SystemError(.tooManyLinks, "open")) { try follow("d41") }
    }

    @Test(
        "what was gone when it was to be watched is looked for again, however often",
        arguments: [FileEventMask.selfMoved.rawValue, FileEventMask.ofFiles.rawValue])
    func goneForMoments(mask: UInt32) throws {
        let directory = TemporaryDirectory()
        directory.write("file")
        let watcher = Watcher(refusal: { asked in
            let count = asked.count { $0.rawValue == mask }
            return asked.last!.rawValue == mask && count <= 3 ? .notFound : nil
        })
        let trail = try PathTrail(directory.url("file"), to: .file, SystemFiles(), watcher)
        #expect(trail.end == trail.places[0] && trail.file?.size == 1)
        let never = Watcher(refusal: { $0.last?.rawValue == mask ? .notFound : nil })
        #expect(throws: SystemError(.wouldBlock, "open")) {
            try PathTrail(directory.url("file"), to: .file, SystemFiles(), never)
        }
    }

    @Test(
        "a directory on the way that may not be read is not watched itself, and another refusal is an error")
    func refused() throws {
        let directory = TemporaryDirectory()
        directory.write("file")
        func follow(_ code: SystemError.Code) throws -> PathTrail {
            let watcher = Watcher(refusal: { $0.last == .selfMoved ? code : nil })
            return try PathTrail(directory.url("file"), to: .file, SystemFiles(), watcher)
        }
        let trail = try follow(.permissionDenied)
        #expect(trail.file?.size == 1 && !trail.watches.contains(1000))
        #expect(try self.trail(directory.url("file")).watches.contains(1000))
        #expect(throws: SystemError(.noSpace, "inotify_add_watch")) { try follow(.noSpace) }
    }

    @Test("a relative path leads nowhere when the working directory has been removed")
    func removedWorkingDirectory() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            directory.makeDirectory("here")
            #expect(unsafe chdir(directory.url("here")) == 0)
            let trail = try PathTrailTests().trail("file")
            #expect(trail.end != nil)
            directory.remove("here")
            #expect(throws: SystemError(.notFound, "open")) { try PathTrailTests().trail("file") }
        }
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
        for start in ["", "../", "/../"] {
            #expect(throws: FileWatchError.removed(path: start + "no-such-directory")) {
                try trail(start + "no-such-directory/x")
            }
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
