import Foundation
import Futures
import FuturesTesting
import Glibc
import Testing
import UVFutures

struct PathWatchTests {
    @Test("a file whose directory is removed and made again at once goes on being watched")
    func directoryComesAgain() throws {
        // On a simulated disk, on which all of this happens before the watch looks again.
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.write("/a/x", "one")
        let watch = try loop.run(until: FileWatch.watch(file: "/a/x", on: loop))
        disk.rename("/a", to: "/b")
        disk.write("/a/x", "two")
        #expect(try loop.changes(of: watch, atLeast: 1) == ["modified x"])
        disk.write("/b/x", "three")
        #expect(try loop.changes(of: watch) == [])
        disk.remove("/a/x")
        #expect(try loop.changes(of: watch, atLeast: 1) == ["removed x"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test(
        "a file whose directory is removed or renamed ends its watch with the reason",
        arguments: [false, true])
    func directoryGoes(isRenamed: Bool) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("a")
            let watch = try loop.run(until: FileWatch.watch(file: directory.url("a/x"), on: loop))
            let next = watch.next()
            if isRenamed { directory.rename("a", "b") } else { directory.remove("a") }
            let path = directory.url("a")
            #expect(
                loop.failure(of: next) as? FileWatchError
                    == (isRenamed ? .moved(path: path) : .removed(path: path)))
        }
    }

    @Test(
        "a directory that is removed while a program has it open ends the watch of its file, or is found again"
    )
    func directoryGoesWhileOpen() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("a")
            directory.write("a/x", "one")
            let watch = try loop.run(
                until: FileWatch.watch(file: directory.url("a/x"), debounce: .zero, on: loop))
            #expect(watch.directoryCount == 1)
            var held = unsafe [open(directory.url("a"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)]
            // Another one takes its place: the watch goes on there.
            directory.makeDirectory("b")
            directory.write("b/x", "two")
            directory.remove("a/x")
            directory.rename("b", "a")
            while try loop.run(until: watch.next()).kind == .removed {}
            directory.write("a/x", "three")
            #expect(try loop.run(until: watch.next()).kind == .modified)
            unsafe held.append(open(directory.url("a"), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            directory.remove("a/x")
            while try loop.run(until: watch.next()).kind != .removed {}
            directory.remove("a")
            #expect(
                loop.failure(of: watch.next()) as? FileWatchError == .removed(path: directory.url("a")))
            for descriptor in held { close(descriptor) }
        }
    }

    @Test(
        "what is written to a file that was removed is not told, and what is removed is told once",
        arguments: [true, false])
    func writtenWhenRemoved(watchesDirectory: Bool) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            for round in 0..<20 {
                directory.write("x")
                let watch = try loop.run(
                    until: watchesDirectory
                        ? FileWatch.watch(directory: directory.path, debounce: .zero, on: loop)
                        : FileWatch.watch(file: directory.url("x"), debounce: .zero, on: loop))
                let file = unsafe open(directory.url("x"), O_WRONLY | O_CLOEXEC)
                directory.remove("x")
                for _ in 0..<round { unsafe _ = write(file, "x", 1) }
                #expect(try loop.run(until: watch.next()).kind == .removed)
                unsafe _ = write(file, "x", 1)
                close(file)
                directory.write("x", "")
                #expect(try loop.run(until: watch.next()).kind == .created)
                try loop.run(until: watch.close())
                directory.remove("x")
            }
        }
    }

    @Test(
        "a directory on the way that is renamed, and made anew, leads to the new file",
        arguments: ["p", "p/a", "p/a/b"])
    func ancestorComesAgain(renamed: String) throws {
        // On a simulated disk, on which all of this happens before the watch looks again.
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.write("/p/a/b/f", "one")
        let watch = try loop.run(until: FileWatch.watch(file: "/p/a/b/f", on: loop))
        disk.rename("/" + renamed, to: "/z")
        disk.write("/p/a/b/f", "two")
        #expect(try loop.changes(of: watch, atLeast: 1) == ["modified f"])
        disk.write("/p/a/b/f", "three")
        #expect(try loop.changes(of: watch, atLeast: 1) == ["modified f"])
        disk.rename("/p", to: "/y")
        #expect(loop.failure(of: watch.next()) as? FileWatchError == .moved(path: "/p"))
        loop.shutdown()
    }

    @Test("a path that leads to the same file again is no change, and what was written meanwhile is one")
    func sameAgain() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        func lookAgain() {
            disk.rename("/p/a", to: "/p/b")
            disk.rename("/p/b", to: "/p/a")
        }
        disk.write("/p/a/f", "one")
        let watch = try loop.run(until: FileWatch.watch(file: "/p/a/f", debounce: .zero, on: loop))
        // With the same size, at the same time.
        lookAgain()
        disk.write("/p/a/f", "two")
        #expect(try loop.changes(of: watch) == ["modified f"])
        for _ in 0..<2 {
            lookAgain()
            #expect(try loop.changes(of: watch) == [])
        }
        // What is written by another name of the file is told of that one alone.
        let directory = try loop.run(until: Directory.open("/p", on: loop))
        try loop.run(until: directory.link("a/f", as: "link"))
        disk.write("/p/link", "six")
        #expect(try loop.changes(of: watch) == [])
        lookAgain()
        #expect(try loop.run(until: watch.next()).kind == .modified)
        // At the same time, with another size.
        disk.write("/p/link", "eight")
        lookAgain()
        #expect(try loop.run(until: watch.next()).kind == .modified)
        try loop.run(until: directory.close())
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a file in the root directory is watched like any other")
    func inRoot() throws {
        let loop = EventLoop.virtual()
        let watch = try loop.run(until: FileWatch.watch(file: "/f", debounce: .zero, on: loop))
        loop.simulatedDisk.write("/f", "one")
        #expect(try loop.changes(of: watch) == ["created f"])
        loop.simulatedDisk.write("/f", "two")
        #expect(try loop.changes(of: watch) == ["modified f"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("another file of the same size and time is a change")
    func anotherFile() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.write("/p/a/f", "one")
        disk.write("/p/b/f", "two")
        let watch = try loop.run(until: FileWatch.watch(file: "/p/a/f", debounce: .zero, on: loop))
        disk.rename("/p/a", to: "/p/c")
        disk.rename("/p/b", to: "/p/a")
        #expect(try loop.changes(of: watch) == ["modified f"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a change of the permissions alone is no change of the contents")
    func attributes() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("x")
            let watch = try loop.run(until: FileWatch.watch(file: directory.url("x"), on: loop))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory.url("x"))
            #expect(try loop.run(until: watch.next()).kind == .attributes)
            try loop.run(until: watch.close())
        }
    }
}
