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
}
