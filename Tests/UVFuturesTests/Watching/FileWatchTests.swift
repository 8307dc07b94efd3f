import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct FileWatchTests {
    private func withFile(
        debounce: Duration = .milliseconds(20),
        _ body: (EventLoop, TemporaryDirectory, FileWatch) throws -> Void
    ) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("app.conf", "one")
            let watch = try loop.run(
                until: FileWatch.watch(file: directory.url("app.conf"), debounce: debounce, on: loop))
            try body(loop, directory, watch)
            try loop.run(until: watch.close())
        }
    }

    // MARK: How programs save

    @Test("each way of saving a file is one change of it")
    func saves() throws {
        try withFile { (loop, directory, watch) throws in
            // Writes a temporary file, and renames it over the old one.
            directory.write("app.conf.tmp", "two")
            directory.rename("app.conf.tmp", "app.conf")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
            // As vim: renames the old file, writes a new one, and removes the old one.
            directory.rename("app.conf", "app.conf~")
            directory.write("app.conf", "three")
            directory.remove("app.conf~")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
            // Empties the file, and writes it.
            directory.write("app.conf", "four")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
            // In many pieces.
            for _ in 0..<20 { directory.write("app.conf", "five", appending: true) }
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
        }
    }

    @Test("a file that goes and comes is told so, and other files in its directory are not told")
    func comesAndGoes() throws {
        try withFile { (loop, directory, watch) throws in
            directory.write("other")
            directory.remove("app.conf")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["removed app.conf"])
            directory.write("app.conf")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created app.conf"])
            unsafe chmod(directory.url("app.conf"), 0o600)
            #expect(try loop.changes(of: watch, atLeast: 1) == ["attributes of app.conf"])
            directory.rename("app.conf", "away")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["removed app.conf"])
        }
    }

    @Test("a file that is not there yet can be watched")
    func absent() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let watch = try loop.run(until: FileWatch.watch(file: directory.url("later"), on: loop))
            directory.write("later")
            #expect(try loop.run(until: watch.next()) == FileChange(path: "later", kind: .created))
            try loop.run(until: watch.close())
        }
    }

    // MARK: Links

    @Test(
        "a link on the way that is given another target is a change of the file: as Kubernetes replaces a ConfigMap"
    )
    func links() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("..1")
            directory.write("..1/app.conf", "one")
            directory.link("..data", to: "..1")
            directory.link("app.conf", to: "..data/app.conf")
            let watch = try loop.run(
                until: FileWatch.watch(file: directory.url("app.conf"), debounce: .milliseconds(20), on: loop)
            )
            for round in 2...4 {
                directory.makeDirectory("..\(round)")
                directory.write("..\(round)/app.conf", "one")
                directory.link("..tmp", to: "..\(round)")
                directory.rename("..tmp", "..data")
                directory.remove("..\(round - 1)/app.conf")
                directory.remove("..\(round - 1)")
                #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
                #expect(watch.directoryCount == 2)
            }
            directory.write("..4/app.conf", "two")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
            directory.remove("..data")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["removed app.conf"])
            directory.link("..data", to: "..4")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created app.conf"])
            try loop.run(until: watch.close())
        }
    }

    @Test("a link that leads in a circle names no file, until it leads somewhere")
    func circle() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.link("a", to: "b")
            directory.link("b", to: "a")
            let watch = try loop.run(until: FileWatch.watch(file: directory.url("a"), on: loop))
            directory.write("c")
            directory.link("d", to: directory.url("c"))
            directory.rename("d", "b")
            #expect(try loop.run(until: watch.next()) == FileChange(path: "a", kind: .created))
            try loop.run(until: watch.close())
        }
    }

    // MARK: Futures, sequences, closures

    @Test("without a debounce, each change is told at once")
    func noDebounce() throws {
        try withFile(debounce: .zero) { (loop, directory, watch) throws in
            directory.write("app.conf", "two")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified app.conf"])
            directory.remove("app.conf")
            while try loop.run(until: watch.next()).kind != .removed {}
        }
    }

    @Test("changes come to several futures, one to each, and a cancelled one takes none")
    func futures() throws {
        try withFile { (loop, directory, watch) throws in
            let cancelled = watch.next()
            let (first, second) = (watch.next(), watch.next())
            #expect(cancelled.cancel())
            directory.write("app.conf")
            #expect(try loop.run(until: first).kind == .modified)
            #expect(!second.isCompleted)
            directory.remove("app.conf")
            #expect(try loop.run(until: second).kind == .removed)
        }
    }

    @Test("changes come to a for loop, until the watch is closed", arguments: [false, true])
    func sequence(byActor: Bool) throws {
        try withFile { (loop, directory, watch) throws in
            var seen: [FileChange.Kind] = []
            let end = watch.changes.iterate(byActor: byActor) { seen.append($0.kind) }
            directory.write("app.conf")
            try loop.runUntil { seen == [.modified] }
            directory.remove("app.conf")
            try loop.runUntil { seen == [.modified, .removed] }
            let waiting = watch.next()
            try loop.run(until: watch.close())
            try loop.run(until: end)
            #expect(waiting.isCancelled)
            #expect(loop.outcome(of: watch.next()).isCancellation)
            #expect(try loop.run(until: watch.changes.makeAsyncIterator().pull()) == nil)
            #expect(!watch.isOpen)
        }
    }

    @Test("changes come to a closure, which may close the watch")
    func closure() throws {
        try withFile { (loop, directory, watch) throws in
            var seen: [FileChange.Kind] = []
            watch.onChange { change in
                seen.append(change.kind)
                if change.kind == .removed { watch.close() }
            }
            directory.write("app.conf")
            try loop.runUntil { seen == [.modified] }
            directory.remove("app.conf")
            // It keeps the loop running until it is closed.
            try loop.run()
            #expect(seen == [.modified, .removed])
        }
    }

    @Test("a watch for which nobody waits neither keeps the loop running nor itself, and wakes nobody")
    func idle() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            weak var gone: FileWatch?
            do {
                let watch = try loop.run(until: FileWatch.watch(tree: directory.path, on: loop))
                gone = watch
                try loop.run()
                #expect(loop.statistics.timers == 0)
                #expect(loop.dump().contains("watch of files"))
                watch.onChange { _ in }
                watch.onChange(nil)
                try loop.run()
                // One who has got what he waited for does not wait any more.
                directory.write("x")
                #expect(try loop.run(until: watch.next()) == FileChange(path: "x", kind: .created))
            }
            #expect(gone == nil)
            gone?.close()
            try loop.run()
            #expect(!loop.dump().contains("watch of files"))
        }
    }

    @Test(
        "statistics, a dump and an observer tell of a watch: what it told, what it merged, and its overflows"
    )
    func diagnostics() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.makeDirectory("/tree")
        var events: [String] = []
        loop.observe { event in
            switch event {
            case .opened(let what): events.append("opened \(what)")
            case .closed(let what, let failure):
                events.append("closed \(what): \(failure.map { "\($0)" } ?? "")")
            case .warning(let text): events.append(text)
            default: break
            }
        }
        var limits = FileWatchLimits()
        limits.maxChanges = 10
        let watch = try loop.run(until: FileWatch.watch(tree: "/tree", limits: limits, on: loop))
        #expect(loop.statistics.fileWatches == 1)
        for text in ["one", "two", "three"] { disk.write("/tree/x", text) }
        #expect(try loop.changes(of: watch, atLeast: 1) == ["created x"])
        // The file was made, and then modified, which the system tells once until somebody takes it.
        #expect(loop.statistics.toldFileChanges == 1)
        #expect(loop.statistics.mergedFileChanges == 1)
        for _ in 0..<2 {
            // Of each of ten new files, what was written was merged. The eleventh is too many.
            for number in 0..<11 { disk.write("/tree/\(number)", "") }
            #expect(try loop.run(until: watch.next()).kind == .lookAgain)
            for number in 0..<11 { disk.remove("/tree/\(number)") }
            #expect(try loop.run(until: watch.next()).kind == .lookAgain)
        }
        #expect(loop.statistics.fileWatchOverflows == 4)
        #expect(loop.dump().contains("1 watches of files with 5 changes delivered, 21 merged, 4 overflows"))
        #expect(
            loop.dump().contains(
                "\nwatch of /tree: 1 directories, 5 changes delivered, 21 merged, 4 overflows"))
        disk.remove("/tree")
        #expect(loop.failure(of: watch.closed) as? FileWatchError == .removed(path: "/tree"))
        #expect(loop.statistics.fileWatches == 0)
        #expect(
            events == [
                "opened FileWatch (/tree)",
                "/tree had more changes than its watch keeps, so the watch dropped those that waited and "
                    + "reported lookAgain; take changes sooner, or raise FileWatchLimits.maxChanges or the sysctl "
                    + "fs.inotify.max_queued_events",
                "closed FileWatch (/tree): \(FileWatchError.removed(path: "/tree"))",
            ])
        loop.shutdown()
    }

    @Test("a loop that is shut down ends its watches, and the futures that wait")
    func shutdown() throws {
        let loop = try EventLoop()
        let directory = TemporaryDirectory()
        let watch = try loop.run(until: FileWatch.watch(tree: directory.path, on: loop))
        let next = watch.next()
        let closed = try loop.run(until: FileWatch.watch(tree: directory.path, on: loop))
        closed.close()
        let starting = FileWatch.watch(tree: directory.path, on: loop)
        starting.ignoreFailure()
        loop.shutdown()
        #expect(throws: FutureError.shutDown) { try next.result?.get() }
        #expect(throws: FutureError.shutDown) { try starting.result?.get() }
        #expect(!watch.isOpen)
        for ended in [watch, closed] {
            #expect(throws: FutureError.shutDown) { try ended.next().result?.get() }
            #expect(throws: FutureError.shutDown) {
                try ended.changes.makeAsyncIterator().pull().result?.get()
            }
        }
        #expect(throws: FutureError.shutDown) {
            try FileWatch.watch(file: "/tmp/x", on: loop).result?.get()
        }
    }

    @Test("a watch that nobody waits for any more while it begins is closed, and no descriptor is left")
    func cancelledStart() async {
        await #expect(processExitsWith: .success) {
            // libuv keeps a pipe for signals from the first loop on.
            try withLoop { _ in }
            let before = openDescriptors()
            try withLoop { loop in
                let directory = TemporaryDirectory()
                for _ in 0..<20 {
                    let starting = FileWatch.watch(tree: directory.path, on: loop)
                    #expect(starting.cancel())
                    try loop.run()
                }
                for _ in 0..<20 {
                    let watch = try loop.run(until: FileWatch.watch(file: directory.url("x"), on: loop))
                    let same = try loop.run(until: FileWatch.watch(tree: directory.path, on: loop))
                    withExtendedLifetime((watch, same)) {}
                }
                try loop.run()
            }
            #expect(
                eventually { openDescriptors().isSubset(of: before) },
                "\(openDescriptors().subtracting(before).map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") })"
            )
        }
    }

    @Test("a watch works on a host's loop")
    func attached() throws {
        try withHost { host, loop in
            let directory = TemporaryDirectory()
            let watch = try host.run(until: FileWatch.watch(tree: directory.path, on: loop))
            directory.write("x")
            #expect(try host.run(until: watch.next()) == FileChange(path: "x", kind: .created))
            try host.run(until: watch.close())
        }
    }

    // MARK: What is refused

    @Test("what cannot be watched is refused with a sentence")
    func refused() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("file")
            func refusal(_ watch: Future<FileWatch>) -> String { "\(loop.failure(of: watch)!)" }
            let missing = directory.url("no/such")
            #expect(
                refusal(FileWatch.watch(tree: missing, on: loop))
                    == "there is no directory \(directory.url("no")) to watch any more; make it, and watch it again"
            )
            #expect(
                refusal(FileWatch.watch(file: missing, on: loop))
                    == "there is no directory \(directory.url("no")) to watch any more; make it, and watch it again"
            )
            #expect(
                loop.failure(of: FileWatch.watch(directory: directory.url("file"), on: loop))
                    as? FileWatchError
                    == .removed(path: directory.url("file")))
            var limits = FileWatchLimits()
            limits.maxDirectories = 2
            directory.makeDirectory("a")
            directory.makeDirectory("b")
            #expect(
                refusal(FileWatch.watch(tree: directory.path, limits: limits, on: loop))
                    == "\(directory.path) has more than 2 directories; watch a part of it, or raise "
                    + "FileWatchLimits.maxDirectories")
            limits.maxChanges = 0
            #expect(
                refusal(FileWatch.watch(tree: "/tmp", limits: limits, on: loop))
                    == "maxChanges must be at least 1, not 0")
            limits.maxDirectories = 0
            #expect(
                refusal(FileWatch.watch(tree: "/tmp", limits: limits, on: loop))
                    == "maxDirectories must be at least 1, not 0")
            for path in ["", "a\0b"] {
                #expect(
                    refusal(FileWatch.watch(file: path, on: loop))
                        == "the path is empty or has a zero byte; give another")
            }
            #expect(
                refusal(FileWatch.watch(file: "x", debounce: .seconds(-1), on: loop))
                    == "a debounce of -1.0 seconds is negative; give zero or more")
            try loop.run()
        }
    }
}
