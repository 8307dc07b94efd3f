import CFuturesSystem
import CLibUV
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct TreeWatchTests {
    private func withTree(
        debounce: Duration = .milliseconds(20), limits: FileWatchLimits = FileWatchLimits(),
        directories: [String] = [], file: String? = nil,
        _ body: (EventLoop, TemporaryDirectory, FileWatch) throws -> Void
    ) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("tree")
            for name in directories { directory.makeDirectory(name) }
            if let file { directory.write(file, "one") }
            let watch = try loop.run(
                until: FileWatch.watch(
                    tree: directory.url("tree"), debounce: debounce, limits: limits, on: loop))
            try body(loop, directory, watch)
            if watch.isOpen { try loop.run(until: watch.close()) }
        }
    }

    @Test("what changes anywhere in a tree is told by its path")
    func paths() throws {
        try withTree(directories: ["tree/a", "tree/a/b"], file: "tree/a/b/old") {
            (loop, directory, watch) throws in
            #expect(watch.directoryCount == 3)
            directory.write("tree/a/b/new")
            directory.write("tree/a/b/old", "more")
            directory.rename("tree/a/b/old", "tree/x")
            #expect(try loop.changes(of: watch, atLeast: 2) == ["created a/b/new", "moved a/b/old to x"])
            directory.rename("tree/x", "outside")
            directory.rename("outside", "tree/a/y")
            #expect(try loop.changes(of: watch, atLeast: 2) == ["removed x", "created a/y"])
        }
    }

    @Test("a directory watch tells what is in it, and nothing of what is below")
    func directory() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("a")
            let watch = try loop.run(until: FileWatch.watch(directory: directory.path, on: loop))
            directory.write("a/x")
            directory.write("y")
            directory.makeDirectory("b")
            directory.write("b/z")
            #expect(try loop.changes(of: watch, atLeast: 2) == ["created y", "created b"])
            #expect(watch.directoryCount == 1)
            try loop.run(until: watch.close())
        }
    }

    @Test("each way of saving is one change in a tree, too, and a file that came and went is none")
    func saves() throws {
        try withTree(file: "tree/x") { (loop, directory, watch) throws in
            directory.write("tree/.x.tmp", "two")
            directory.rename("tree/.x.tmp", "tree/x")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified x"])
            directory.rename("tree/x", "tree/x~")
            directory.write("tree/x", "three")
            directory.remove("tree/x~")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified x"])
            directory.write("tree/lock")
            directory.remove("tree/lock")
            directory.write("tree/x", "four")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified x"])
        }
    }

    @Test("what comes from outside onto a file is a change of it, and onto a directory a new one")
    func replacements() throws {
        try withTree(directories: ["tree/d", "new", "new/y"], file: "tree/x") {
            (loop, directory, watch) throws in
            directory.write("out", "two")
            directory.rename("out", "tree/x")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["modified x"])
            directory.rename("new", "tree/d")
            let told = try loop.changes(of: watch, atLeast: 3)
            #expect(told == ["removed d", "created d", "created d/y"])
            #expect(watch.directoryCount == 3)
        }
    }

    @Test("what is in a new directory before it is watched is told, once", arguments: [0, 20])
    func newDirectories(debounce: Int) throws {
        try withTree(debounce: .milliseconds(debounce)) { (loop, directory, watch) throws in
            var expected: Set<String> = []
            for index in 0..<10 {
                var path = "tree"
                for depth in 0..<8 {
                    path += "/\(index)-\(depth)"
                    directory.makeDirectory(path)
                    directory.write("\(path)/file")
                    expected.formUnion(["created \(path)", "created \(path)/file"])
                }
            }
            let told = try loop.changes(of: watch, atLeast: 160).filter { !$0.hasPrefix("modified") }
            #expect(told.count == expected.count)
            #expect(
                Set(told.map { $0.replacing("created ", with: "created tree/", maxReplacements: 1) })
                    == expected)
            #expect(watch.directoryCount == 81)
            directory.write("tree/9-0/9-1/9-2/more")
            #expect(try loop.changes(of: watch, atLeast: 1).first == "created 9-0/9-1/9-2/more")
        }
    }

    @Test("a directory that is renamed keeps its watches, and one that leaves the tree loses them")
    func renames() throws {
        try withTree(directories: ["tree/a", "tree/a/b", "tree/c"]) {
            (loop, directory, watch) throws in
            directory.rename("tree/a", "tree/c/d")
            directory.write("tree/c/d/b/x")
            #expect(try loop.changes(of: watch, atLeast: 2) == ["moved a to c/d", "created c/d/b/x"])
            #expect(watch.directoryCount == 4)
            directory.rename("tree/c/d", "outside")
            directory.write("outside/b/y")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["removed c/d"])
            #expect(watch.directoryCount == 2)
            directory.rename("outside", "tree/e")
            #expect(
                try loop.changes(of: watch, atLeast: 4) == [
                    "created e", "created e/b", "created e/b/x", "created e/b/y",
                ])
            #expect(watch.directoryCount == 4)
        }
    }

    @Test("when two names have changed places, the watch tells to look again, and knows which is which")
    func exchanges() throws {
        try withTree(directories: ["tree/a", "tree/b", "tree/b/c"], file: "tree/a/x") {
            (loop, directory, watch) throws in
            func exchange(_ name: String, _ other: String) throws {
                #expect(
                    unsafe rename_with_flags(AT_FDCWD, directory.url(name), AT_FDCWD, directory.url(other), 2)
                        == 0)
                while try loop.run(until: watch.next()).kind != .lookAgain {}
            }
            func expectChanges(_ told: [String], _ expected: [String]) { #expect(told == expected) }
            try exchange("tree/a", "tree/b")
            directory.write("tree/b/x")
            directory.write("tree/a/c/y")
            expectChanges(try loop.changes(of: watch, atLeast: 2), ["modified b/x", "created a/c/y"])
            try exchange("tree/b/x", "tree/a/c/y")
            try exchange("tree/a/c", "tree/b/x")
            directory.write("tree/b/x/z")
            expectChanges(try loop.changes(of: watch, atLeast: 1), ["created b/x/z"])
            #expect(watch.directoryCount == 4)
        }
    }

    @Test(
        "a new directory that is renamed at once, with the directory above it, is watched under its new path")
    func racingRenames() throws {
        try withTree(debounce: .zero) { (loop, directory, watch) throws in
            for round in 0..<50 {
                directory.makeDirectory("tree/a")
                directory.makeDirectory("tree/a/b")
                directory.rename("tree/a", "tree/\(round)")
                directory.makeDirectory("tree/\(round)/b/c")
                directory.rename("tree/\(round)/b", "tree/\(round)/d")
                _ = try loop.changes(of: watch, for: .milliseconds(5))
            }
            try loop.runUntil { watch.directoryCount == 151 }
            _ = try loop.changes(of: watch)
            for round in 0..<50 { directory.write("tree/\(round)/d/c/x") }
            let told = try loop.changes(of: watch, atLeast: 100).filter { $0.hasPrefix("created") }
            #expect(told == (0..<50).map { "created \($0)/d/c/x" })
        }
    }

    @Test("a directory that another one has replaced before it was scanned is watched under its own path")
    func mistaken() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.makeDirectory("/tree")
        let watch = try loop.run(until: FileWatch.watch(tree: "/tree", debounce: .zero, on: loop))
        disk.latency = .constant(.milliseconds(10))
        disk.makeDirectory("/tree/a")
        loop.advance(by: .milliseconds(5))
        disk.rename("/tree/a", to: "/tree/b")
        disk.makeDirectory("/tree/a")
        loop.advance(by: .milliseconds(100))
        #expect(watch.directoryCount == 3)
        #expect(try loop.changes(of: watch, atLeast: 3) == ["created a", "moved a to b", "created a"])
        disk.write("/tree/a/x", "")
        disk.write("/tree/b/y", "")
        let told = try loop.changes(of: watch, atLeast: 2).filter { $0.hasPrefix("created") }
        #expect(told == ["created a/x", "created b/y"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("links in a tree are told, and not followed")
    func links() throws {
        try withTree(directories: ["outside"]) { (loop, directory, watch) throws in
            directory.link("tree/link", to: directory.url("outside"))
            directory.link("tree/up", to: "..")
            directory.write("outside/x")
            #expect(try loop.changes(of: watch, atLeast: 2) == ["created link", "created up"])
            #expect(watch.directoryCount == 1)
        }
    }

    @Test("a watch of a directory ends with the reason when it is removed, renamed or replaced")
    func ends() throws {
        for way in ["removed", "moved"] {
            try withTree { (loop, directory, watch) throws in
                let path = directory.url("tree")
                let (next, iteration) = (watch.next(), watch.changes.makeAsyncIterator().pull())
                if way == "removed" { directory.remove("tree") } else { directory.rename("tree", "other") }
                let reason: FileWatchError = way == "removed" ? .removed(path: path) : .moved(path: path)
                #expect(loop.failure(of: next) as? FileWatchError == reason)
                #expect(loop.failure(of: iteration) as? FileWatchError == reason)
                #expect(loop.failure(of: watch.closed) as? FileWatchError == reason)
                #expect(loop.failure(of: watch.next()) as? FileWatchError == reason)
                #expect(!watch.isOpen)
                try loop.run()
                #expect(!loop.dump().contains("watch of files"))
            }
        }
    }

    @Test(
        "a directory that is removed or replaced ends its watch at once, also while a program has it open",
        arguments: [false, true])
    func endsWhileOpen(isReplaced: Bool) throws {
        try withTree(directories: ["other", "sibling"]) { (loop, directory, watch) throws in
            let held = unsafe open(directory.url("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(held) }
            // What happens beside it is no end of it.
            directory.remove("sibling")
            directory.write("tree/x")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created x"])
            directory.remove("tree/x")
            #expect(try loop.run(until: watch.next()).kind == .removed)
            if isReplaced { directory.rename("other", "tree") } else { directory.remove("tree") }
            let path = directory.url("tree")
            #expect(
                loop.failure(of: watch.next()) as? FileWatchError
                    == (isReplaced ? .moved(path: path) : .removed(path: path)))
        }
    }

    @Test("a simulated directory that is removed while it is open ends its watch at once, too")
    func endsWhileOpenInAWorld() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.makeDirectory("/srv/tree")
        let held = try loop.run(until: Directory.open("/srv/tree", on: loop))
        let watch = try loop.run(until: FileWatch.watch(tree: "/srv/tree", on: loop))
        disk.remove("/srv/tree")
        #expect(loop.failure(of: watch.next()) as? FileWatchError == .removed(path: "/srv/tree"))
        try loop.run(until: held.close())
        loop.shutdown()
    }

    @Test("a directory that goes while its watch begins is missed by no one")
    func goesAtTheBeginning() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            for _ in 0..<50 {
                directory.makeDirectory("tree")
                let held = unsafe open(directory.url("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                let starting = FileWatch.watch(tree: directory.url("tree"), on: loop)
                directory.remove("tree")
                let failure: (any Error)?
                switch loop.outcome(of: starting) {
                case .success(let watch): failure = loop.failure(of: watch.next())
                case .failure(let error): failure = error
                }
                #expect(failure as? FileWatchError == .removed(path: directory.url("tree")))
                close(held)
            }
        }
    }

    @Test(
        "a watch ends when its file system is unmounted, and one of a tree looks again when a part of it is",
        .asRoot)
    func unmounts() throws {
        try withTree(directories: ["tree/part"]) { (loop, directory, watch) throws in
            let part = directory.url("tree/part")
            #expect(unsafe system("mount -t tmpfs none \(part)") == 0)
            defer { unsafe _ = system("umount -l \(part) 2>/dev/null") }
            let inner = try loop.run(until: FileWatch.watch(tree: part, on: loop))
            let outer = try loop.run(until: FileWatch.watch(tree: directory.url("tree"), on: loop))
            #expect(outer.directoryCount == 2)
            let next = inner.next()
            // Other tests mount, too, and then the watch looks again at what is mounted here.
            #expect(eventually { unsafe system("umount \(part) 2>/dev/null") == 0 })
            #expect(loop.failure(of: next) as? FileWatchError == .unmounted(path: part))
            #expect(try loop.run(until: outer.next()).kind == .lookAgain)
            directory.write("tree/part/x")
            #expect(try loop.run(until: outer.next()) == FileChange(path: "part/x", kind: .created))
            try loop.run(until: outer.close())
        }
    }

    @Test("a directory that may not be read is told, and watched as soon as it may be", .asRoot)
    func unreadable() async {
        await #expect(processExitsWith: .success) {
            // Nobody forbids root anything. The whole process: its pool has no thread yet that keeps its user.
            #expect(setegid(65534) == 0 && seteuid(65534) == 0)
            try TreeWatchTests().withTree(debounce: .zero, directories: ["tree/old"]) {
                (loop, directory, first) throws in
                try loop.run(until: first.close())
                directory.write("tree/old/inner")
                #expect(unsafe chmod(directory.url("tree/old"), 0) == 0)
                let watch = try loop.run(until: FileWatch.watch(tree: directory.url("tree"), on: loop))
                #expect(unsafe mkdir(directory.url("tree/new"), 0) == 0)
                #expect(try loop.changes(of: watch, atLeast: 1) == ["created new"])
                #expect(watch.directoryCount == 1)
                for name in ["old", "new"] {
                    #expect(unsafe chmod(directory.url("tree/\(name)"), 0o700) == 0)
                }
                #expect(
                    try loop.changes(of: watch, atLeast: 3)
                        == ["attributes of old", "created old/inner", "attributes of new"])
                directory.write("tree/new/x")
                directory.write("tree/old/x")
                #expect(try loop.changes(of: watch, atLeast: 2) == ["created new/x", "created old/x"])
                #expect(watch.directoryCount == 3)
                try loop.run(until: watch.close())
            }
            #expect(seteuid(0) == 0 && setegid(0) == 0)
        }
    }

    @Test("the last changes before the end can still be taken")
    func lastChanges() throws {
        try withTree(file: "tree/x") { (loop, directory, watch) throws in
            directory.remove("tree/x")
            directory.remove("tree")
            try loop.runUntil { !watch.isOpen }
            #expect(try loop.run(until: watch.next()) == FileChange(path: "x", kind: .removed))
            #expect(
                loop.failure(of: watch.next()) as? FileWatchError == .removed(path: directory.url("tree")))
        }
    }

    @Test("a tree that grows beyond its limit ends the watch")
    func limit() throws {
        var limits = FileWatchLimits()
        limits.maxDirectories = 3
        try withTree(limits: limits) { (loop, directory, watch) throws in
            let path = directory.url("tree")
            for name in ["a", "b", "c"] { directory.makeDirectory("tree/\(name)") }
            try loop.runUntil { !watch.isOpen }
            #expect(
                loop.failure(of: watch.closed) as? FileWatchError == .tooManyDirectories(path: path, limit: 3)
            )
        }
    }

    @Test("a directory that is scanned once more does not count twice against the limit")
    func limitOfAnotherScan() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.makeDirectory("/tree")
        var limits = FileWatchLimits()
        limits.maxDirectories = 4
        let watch = try loop.run(
            until: FileWatch.watch(tree: "/tree", debounce: .zero, limits: limits, on: loop))
        disk.latency = .constant(.milliseconds(10))
        disk.makeDirectory("/tree/a")
        loop.advance(by: .milliseconds(5))
        // The scan of the first directory finds the second one, which leaves the tree before the scan ends.
        disk.rename("/tree/a", to: "/tree/b")
        for path in ["/tree/a", "/tree/a/x", "/tree/a/y"] { disk.makeDirectory(path) }
        loop.advance(by: .milliseconds(9))
        disk.rename("/tree/a", to: "/a")
        loop.advance(by: .milliseconds(100))
        #expect(watch.isOpen)
        #expect(watch.directoryCount == 2)
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("changes that nobody takes become one advice to look again")
    func tooManyChanges() throws {
        var limits = FileWatchLimits()
        limits.maxChanges = 10
        try withTree(limits: limits) { (loop, directory, watch) throws in
            for index in 0..<100 { directory.write("tree/\(index)") }
            #expect(try loop.changes(of: watch, atLeast: 1).first == "look again")
            directory.write("tree/more")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created more"])
        }
    }

    @Test("files that are made, renamed and removed in a burst are told one by one, or the overflow is")
    func burst() throws {
        let count = isSoaking ? 100_000 : 4000
        var limits = FileWatchLimits()
        limits.maxChanges = 1_000_000
        try withTree(debounce: .zero, limits: limits) { (loop, directory, watch) throws in
            for index in 0..<count {
                directory.write("tree/\(index)")
                directory.rename("tree/\(index)", "tree/\(index).new")
                directory.remove("tree/\(index).new")
                // Lets the loop read now and then, so that some of it overflows in a soak, and the rest does not.
                if index % 500 == 499 { try loop.run(until: loop.sleep(for: .zero)) }
            }
            var told: [String] = []
            while told.last != "removed \(count - 1).new" {
                told.append("\(try loop.run(until: watch.next()))")
                if told.last == "look again" { return }
            }
            let expected = (0..<count).flatMap {
                ["created \($0)", "moved \($0) to \($0).new", "removed \($0).new"]
            }
            #expect(told.filter { !$0.hasPrefix("modified") } == expected)
        }
    }

    @Test("after events were lost, the user is told to look again, and new directories are watched by then")
    func overflow() throws {
        try withTree { (loop, directory, watch) throws in
            let queue = Int(try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events")) ?? 16_384
            for index in 0...queue / 2 {
                directory.write("tree/x")
                if index == queue / 2 - 1 { directory.makeDirectory("tree/new") }
                directory.remove("tree/x")
            }
            let told = try loop.changes(of: watch, atLeast: 1)
            #expect(told.first == "look again")
            #expect(watch.directoryCount == 2)
            directory.write("tree/new/y")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created new/y"])
        }
    }

    @Test("two watches of one tree share the system's watches, and each tells everything")
    func shared() throws {
        try withTree { (loop, directory, watch) throws in
            let other = try loop.run(until: FileWatch.watch(tree: directory.url("tree"), on: loop))
            directory.makeDirectory("tree/a")
            directory.makeDirectory("tree/a/b")
            directory.write("tree/a/b/x")
            let expected = ["created a", "created a/b", "created a/b/x"]
            #expect(try loop.changes(of: watch, atLeast: expected.count) == expected)
            #expect(try loop.changes(of: other, atLeast: expected.count) == expected)
            try loop.run(until: other.close())
            directory.write("tree/a/b/y")
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created a/b/y"])
        }
    }

    @Test(
        "names that are no UTF-8 are told with the replacement character, and directories of such names are watched"
    )
    func otherNames() throws {
        try withTree { (loop, directory, watch) throws in
            var name = Array(directory.url("tree/").utf8CString.dropLast()) + [CChar(bitPattern: 0xff), 0]
            #expect(unsafe mkdir(&name, 0o755) == 0)
            #expect(try loop.changes(of: watch, atLeast: 1) == ["created \u{10FFFF}"])
            #expect(watch.directoryCount == 2)
        }
    }
}

extension String {
    fileprivate init(contentsOfFile path: String) throws {
        let file = unsafe fopen(path, "r")
        defer { unsafe fclose(file!) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe fread(&bytes, 1, bytes.count, file!)
        self = String(decoding: bytes.prefix(count).filter { $0 > 32 }, as: UTF8.self)
    }
}
