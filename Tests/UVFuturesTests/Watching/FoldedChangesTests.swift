import Testing

@testable import UVFutures

struct FoldedChangesTests {
    private var changes = FoldedChanges()

    private func path(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    private mutating func add(_ kind: FoldedChanges.Kind, _ name: String) { changes.add(kind, path(name)) }

    private mutating func move(
        _ source: String, _ target: String, replacing: Bool = false, isDirectory: Bool = false
    ) {
        changes.move(path(source), to: path(target), replacing: replacing, isDirectory: isDirectory)
    }

    /// What is told, in order.
    private mutating func told() -> [String] {
        var told: [String] = []
        while let (path, kind) = changes.takeFirst() {
            switch kind {
            case .moved(let source): told.append("\(source) → \(path)")
            default: told.append("\(kind) \(path)")
            }
        }
        #expect(changes.isEmpty && changes.count == 0)
        return told
    }

    @Test("changes of one path become one")
    mutating func onePath() {
        add(.created, "a")
        add(.modified, "a")
        add(.attributes, "a")
        add(.attributes, "b")
        add(.modified, "b")
        add(.modified, "c")
        add(.removed, "c")
        add(.removed, "d")
        add(.created, "d")
        #expect(told() == ["created a", "modified b", "removed c", "modified d"])
    }

    @Test("what came and went is not told")
    mutating func nothing() {
        add(.created, "a")
        add(.removed, "a")
        add(.created, "b")
        move("b", "c")
        add(.removed, "c")
        #expect(told() == [])
    }

    @Test("a temporary file that is renamed over another one is a change of that")
    mutating func temporaryFile() {
        add(.created, "tmp")
        add(.modified, "tmp")
        move("tmp", "a", replacing: true)
        add(.created, "tmp")
        move("tmp", "b")
        #expect(told() == ["modified a", "created b"])
    }

    @Test("a backup that is removed leaves one change of the file")
    mutating func backup() {
        move("a", "a~")
        add(.created, "a")
        add(.modified, "a")
        add(.removed, "a~")
        #expect(told() == ["modified a"])
    }

    @Test("renames in a row become one, and one that is taken back becomes none")
    mutating func renames() {
        move("a", "b")
        add(.modified, "b")
        move("b", "c")
        move("x", "y")
        move("y", "x")
        move("old", "new")
        add(.removed, "new")
        #expect(told() == ["a → c", "removed old"])
    }

    @Test("a rename over a file that was itself renamed loses that")
    mutating func overwritten() {
        move("a", "b")
        move("c", "b", replacing: true)
        #expect(told() == ["c → b", "removed a"])
    }

    @Test("a rename comes behind the changes of the file that was renamed")
    mutating func order() {
        add(.modified, "b")
        add(.modified, "x")
        move("a", "b", replacing: true)
        #expect(told() == ["modified x", "a → b"])
    }

    @Test("what is below a directory goes with it")
    mutating func directories() {
        add(.created, "d")
        add(.created, "d/x")
        add(.created, "d/y")
        add(.created, "dx")
        move("d", "e", isDirectory: true)
        add(.modified, "e/x")
        #expect(told() == ["created dx", "created e", "created e/x", "created e/y"])
        add(.created, "e/z")
        changes.rebase(below: path("e"), to: nil)
        add(.removed, "e")
        #expect(told() == ["removed e"])
    }
}
