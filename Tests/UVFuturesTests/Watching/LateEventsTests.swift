import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

/// A watch of a tree hears of what has happened when something else has its place already. The test gives it such events: on a
/// disk they come at few moments.
struct LateEventsTests {
    private let loop: EventLoop
    private let changes: ChangeBuffer
    private let tree: TreeWatch

    /// Watches a tree with the directories `a` and `b`.
    init() throws {
        loop = EventLoop.virtual()
        for path in ["/tree", "/tree/a", "/tree/b"] { loop.simulatedDisk.makeDirectory(path) }
        changes = ChangeBuffer(.zero, limit: 100, on: loop.core)
        let hub = try FileEventHub.shared(on: loop.core)
        tree = TreeWatch("/tree", isRecursive: true, limit: 100, hub, changes)
        tree.start {}
        loop.advance(by: .milliseconds(100))
    }

    private func end() throws {
        tree.close()
        try loop.run()
        #expect(loop.statistics.handles == 0)
        loop.shutdown()
    }

    private func told() -> [String] {
        loop.advance(by: .milliseconds(100))
        var told: [String] = []
        while let change = changes.takeFirst() { told.append("\(change)") }
        return told
    }

    private func take(_ watch: CInt, _ what: FileEventMask, _ name: String? = nil, cookie: UInt32 = 0) {
        let name = name.map { RelativePath(bytes: Array($0.utf8)) }
        tree.take(FileEvent(watch, what, cookie: cookie, name: name))
    }

    /// The number of the system's watch of a directory.
    private func watch(of directory: String) throws -> CInt {
        let path = directory.isEmpty ? "probe" : "\(directory)/probe"
        let found = (1...20 as ClosedRange<CInt>).first { watch in
            take(watch, .modified, "probe")
            take(watch, .created, "probe")
            tree.process()
            let isFound = told() == ["created \(path)"]
            take(watch, .deleted, "probe")
            tree.process()
            _ = told()
            return isFound
        }
        return try #require(found)
    }

    private func rename(_ old: String, to new: String, in watch: CInt, _ cookie: UInt32) {
        take(watch, [.movedFrom, .isDirectory], old, cookie: cookie)
        take(watch, [.movedTo, .isDirectory], new, cookie: cookie)
    }

    @Test("a file that was renamed is not the directory that has its name by now")
    func file() throws {
        let root = try watch(of: "")
        take(root, .movedFrom, "a", cookie: 1)
        take(root, .movedTo, "c", cookie: 1)
        tree.process()
        #expect(told() == ["removed a", "created c"])
        #expect(tree.directoryCount == 2)
        try end()
    }

    @Test(
        "a directory that is removed is looked for again: another one may have its name, of which nothing else is told"
    )
    func removed() throws {
        let a = try watch(of: "a")
        take(a, .selfDeleted)
        tree.process()
        #expect(told() == [])
        #expect(tree.directoryCount == 3)
        loop.simulatedDisk.write("/tree/a/x", "")
        #expect(told().contains("created a/x"))
        try end()
    }

    @Test("a directory whose watch belongs to another one is watched itself")
    func mistaken() throws {
        let (root, b) = try (watch(of: ""), watch(of: "b"))
        // The two have not changed places, as these say, or have done so again since.
        rename("a", to: "c", in: root, 1)
        rename("b", to: "a", in: root, 2)
        take(b, .selfMoved)
        rename("c", to: "b", in: root, 3)
        tree.process()
        _ = told()
        #expect(tree.directoryCount == 3)
        for name in ["a", "b"] { loop.simulatedDisk.write("/tree/\(name)/x", "") }
        #expect(Set(told()).isSuperset(of: ["created a/x", "created b/x"]))
        try end()
    }

    @Test(
        "a new directory that is not at its path when it is to be watched is found when the one above was renamed"
    )
    func missing() throws {
        loop.simulatedDisk.latency = .constant(.milliseconds(10))
        loop.simulatedDisk.makeDirectory("/tree/a/new")
        loop.advance(by: .milliseconds(5))
        loop.simulatedDisk.rename("/tree/a", to: "/tree/c")
        #expect(told() == ["created a/new", "moved a to c"])
        #expect(tree.directoryCount == 4)
        loop.simulatedDisk.makeDirectory("/tree/c/new/inner")
        #expect(told() == ["created c/new/inner"])
        try end()
    }

    @Test("a tree that changes whenever it is looked at is looked at ten times, and then its user is told to")
    func changing() throws {
        loop.simulatedDisk.latency = .constant(.milliseconds(10))
        for _ in 0..<2 {
            take(-1, .overflow)
            tree.process()
            var (looks, change): (Int, FileChange?) = (0, nil)
            while change == nil, looks < 20 {
                take(0, .created, "elsewhere")
                loop.advance(by: .milliseconds(10))
                looks += 1
                change = changes.takeFirst()
            }
            #expect(looks == 10 && change?.kind == .lookAgain)
            #expect(told() == [])
        }
        try end()
    }

    @Test("what a look finds after events were lost is not told one by one")
    func lost() throws {
        var told: [String] = []
        changes.onReady = { [unowned changes] in
            while let change = changes.takeFirst() { told.append("\(change)") }
        }
        loop.simulatedDisk.makeDirectory("/tree/c")
        loop.simulatedDisk.remove("/tree/b")
        take(-1, .overflow)
        tree.process()
        loop.advance(by: .milliseconds(100))
        #expect(told == ["look again"] && tree.directoryCount == 3)
        loop.simulatedDisk.makeDirectory("/tree/c/d")
        loop.advance(by: .milliseconds(100))
        #expect(told == ["look again", "created c/d"])
        try end()
    }

    @Test(
        "what a look finds in a directory of which nothing was told is told, by what was known of each name")
    func unwatched() throws {
        for name in ["f", "g", "k", "e/y"] { loop.simulatedDisk.write("/tree/a/\(name)", "") }
        loop.simulatedDisk.makeDirectory("/tree/a/d")
        _ = told()
        try take(watch(of: "a"), .selfDeleted)
        tree.process()
        // Before the look.
        for name in ["f", "d", "g"] { loop.simulatedDisk.remove("/tree/a/\(name)") }
        loop.simulatedDisk.makeDirectory("/tree/a/f")
        for name in ["d", "n"] { loop.simulatedDisk.write("/tree/a/\(name)", "") }
        #expect(
            told() == [
                "removed a/d", "created a/d", "modified a/k", "created a/n", "removed a/f", "created a/f",
                "removed a/g",
            ])
        #expect(tree.directoryCount == 5)
        try end()
    }

    @Test("a name that is renamed up to two milliseconds after another file came onto it may be exchanged")
    func exchanged() throws {
        loop.simulatedDisk.write("/tree/f", "")
        _ = told()
        let root = try watch(of: "")
        for (microseconds, expected) in [
            (0, ["look again"]), (2000, ["look again"]), (2001, ["modified f", "removed f"]),
        ] {
            take(root, .movedTo, "f", cookie: 1)
            tree.process()
            loop.advance(by: .microseconds(microseconds))
            take(root, .movedFrom, "f", cookie: 2)
            tree.process()
            #expect(told() == expected)
        }
        try end()
    }

    @Test("renames to where nothing is watched, or below itself, are no renames within the tree")
    func otherRenames() throws {
        let (root, a) = try (watch(of: ""), watch(of: "a"))
        take(root, [.movedFrom, .isDirectory], "b", cookie: 1)
        take(999, [.movedTo, .isDirectory], "b", cookie: 1)
        tree.process()
        #expect(told() == ["removed b"] && tree.directoryCount == 2)
        take(root, [.movedFrom, .isDirectory], "a", cookie: 2)
        take(a, [.movedTo, .isDirectory], "c", cookie: 2)
        tree.process()
        // There is still a directory of the first name.
        #expect(told() == ["look again"] && tree.directoryCount == 3)
        try end()
    }

    @Test(
        "a directory of the tree whose watch has ended is looked for with all others",
        arguments: [FileEventMask.ignored.rawValue, FileEventMask.unmounted.rawValue])
    func endedWatch(what: UInt32) throws {
        var isEnded = false
        tree.onEnd = { _ in isEnded = true }
        try take(watch(of: "a"), FileEventMask(rawValue: what))
        tree.process()
        #expect(told() == ["look again"])
        #expect(!isEnded && tree.directoryCount == 3)
        try end()
    }

    @Test("what happens to the root itself ends the watch with the reason")
    func root() throws {
        let ways: [(FileEventMask, FileWatchError)] = [
            (.selfDeleted, .removed(path: "/tree")), (.selfMoved, .moved(path: "/tree")),
            (.unmounted, .unmounted(path: "/tree")),
        ]
        for (what, expected) in ways {
            let late = try LateEventsTests()
            var reason: (any Error)?
            late.tree.onEnd = { reason = $0 }
            try late.take(late.watch(of: ""), what)
            late.tree.process()
            #expect(late.told() == [] && reason as? FileWatchError == expected)
            #expect(late.loop.statistics.handles == 0)
            try late.end()
        }
        try end()
    }

    @Test("a directory that comes from outside onto another one is a new one, with all that is in it")
    func replaced() throws {
        loop.simulatedDisk.write("/tree/a/x", "")
        loop.simulatedDisk.write("/tree/f", "")
        _ = told()
        let root = try watch(of: "")
        take(root, [.movedTo, .isDirectory], "a", cookie: 1)
        tree.process()
        #expect(told() == ["removed a", "created a", "created a/x"] && tree.directoryCount == 3)
        take(root, .modified, "f")
        take(root, .attributes, "f")
        take(root, .modified, "unknown")
        tree.process()
        #expect(told() == ["modified f", "attributes of f"])
        try end()
    }
}
