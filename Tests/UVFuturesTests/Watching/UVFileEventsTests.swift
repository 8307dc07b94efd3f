import CHeap
import Foundation
import Futures
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct UVFileEventsTests {
    @Test("events have the names and the numbers of what has changed, and a watch is one for each directory")
    func events() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let source = try loop.system.makeFileEvents()
            var calls = 0
            source.onEvents = { calls += 1 }
            let handle = try SystemFiles().openDirectory(at: directory.path)
            let watch = try source.watcher.watch(handle, for: .ofFiles)
            let same = try SystemFiles().openDirectory(at: directory.path)
            #expect(try source.watcher.watch(same, for: .selfMoved) == watch)
            #expect(try source.takeEvents().isEmpty)
            directory.write("x")
            directory.rename("x", "y")
            directory.makeDirectory("z")
            source.keepAlive(true)
            try loop.runUntil { calls > 0 }
            let events = try source.takeEvents()
            #expect(events.allSatisfy { $0.watch == watch })
            #expect(events.map { $0.name?.description } == ["x", "x", "x", "y", "z"])
            #expect(
                events.map(\.changes.rawValue)
                    == [
                        FileEventMask.created, .modified, .movedFrom, .movedTo, [.created, .isDirectory],
                    ].map(\.rawValue))
            #expect(events[2].cookie == events[3].cookie && events[2].cookie != 0)
            source.removeWatch(watch)
            #expect(try source.takeEvents().map(\.changes.rawValue) == [FileEventMask.ignored.rawValue])
            source.close()
            try loop.run()
        }
    }

    @Test("what cannot be read any more ends the watches, and is not read for ever")
    func unreadable() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                directory.makeDirectory("tree")
                let tree = try loop.run(until: FileWatch.watch(tree: directory.url("tree"), on: loop))
                let file = try loop.run(until: FileWatch.watch(file: directory.url("x"), on: loop))
                let inotify = (0..<CInt(256)).first { number in
                    let target = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(number)")
                    return target?.contains("inotify") == true
                }!
                // The system goes on to tell of events, and what is read is the memory at address 0: EIO.
                let kept = dup(inotify)
                let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
                #expect(dup2(memory, inotify) == inotify)
                close(memory)
                directory.write("tree/x")
                for watch in [tree, file] {
                    let path = watch.path
                    let failure = loop.failure(of: watch.next()) as? FileWatchError
                    #expect(failure == .refused(path: path, operation: "read", code: .inputOutput))
                    #expect(
                        failure.map { "\($0)" }
                            == "\(path) cannot be watched: read EIO, i/o error; changes may have been missed: watch it again"
                    )
                }
                close(kept)
                try loop.run()
                // Later watches have a source of their own.
                let next = try loop.run(until: FileWatch.watch(file: directory.url("x"), on: loop))
                directory.write("x")
                #expect(try loop.run(until: next.next()).kind == .created)
                try loop.run(until: next.close())
            }
        }
    }

    @Test("where /proc is not mounted, the error says so, and not that the directory is gone", .asRoot)
    func withoutProc() async {
        await #expect(processExitsWith: .success) {
            #expect(unshare_mounts() == 0, "the gate runs as root, and may mount")
            #expect(unsafe mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0)
            #expect(unsafe umount2("/proc", CInt(MNT_DETACH)) == 0)
            try withLoop { loop in
                let directory = TemporaryDirectory()
                let path = directory.path
                for future in [
                    FileWatch.watch(tree: path, on: loop), FileWatch.watch(directory: path, on: loop),
                    FileWatch.watch(file: path, on: loop),
                ] {
                    #expect(
                        loop.failure(of: future).map { "\($0)" }
                            == "\(path) cannot be watched: /proc/self/fd ENOENT, no such file or directory; "
                            + "mount /proc, which a watch needs")
                }
            }
            // A sanitizer looks there for leaks.
            #expect(unsafe mount("none", "/proc", "proc", 0, nil) == 0)
        }
    }

    @Test("a source that nobody needs does not keep its loop, and leaves no descriptor")
    func unneeded() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                try loop.run(for: .milliseconds(1))
                let before = descriptorsInUse()
                do {
                    let source = try loop.system.makeFileEvents()
                    #expect(loop.dump().contains("handle: first check of the mount table"))
                    try loop.run()
                    try loop.turn()
                    #expect(!loop.dump().contains("first check"))
                    #expect(loop.statistics.handles == 2)
                    source.close()
                    try loop.run()
                }
                #expect(loop.statistics.handles == 0)
                expectNoMore(than: before)
            }
        }
    }

    @Test("a source that cannot have all of its descriptors is not made, and leaves none", arguments: 0..<3)
    func shortage(free: Int) async {
        await #expect(processExitsWith: .success) { [free] in
            try withLoop { loop in
                try loop.run(for: .milliseconds(1))
                let before = descriptorsInUse()
                withFreeDescriptors(free) {
                    let error = #expect(throws: SystemError.self) { try loop.system.makeFileEvents() }
                    #expect(error?.code == .tooManyOpenFiles)
                }
                try loop.run()
                #expect(loop.statistics.handles == 0)
                expectNoMore(than: before)
            }
        }
    }

    @Test("a file is watched in a directory below one that its user may not read", .asRoot)
    func unreadableAbove() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                directory.makeDirectory("mine")
                #expect(unsafe chmod(directory.path, 0o711) == 0)
                #expect(unsafe chown(directory.url("mine"), 65534, 65534) == 0)
                // Of the whole process: no thread that opens directories is there yet.
                #expect(setegid(65534) == 0 && seteuid(65534) == 0)
                let watch = try loop.run(until: FileWatch.watch(file: directory.url("mine/x"), on: loop))
                directory.write("mine/x")
                #expect(try loop.run(until: watch.next()).kind == .created)
                try loop.run(until: watch.close())
                #expect(seteuid(0) == 0 && setegid(0) == 0)
            }
        }
    }
}
