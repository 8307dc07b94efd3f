import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FoldedChangesTests {
    private var changes = FoldedChanges()

    private func path(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    private func add(_ kind: FoldedChanges.Kind, _ name: String, isDirectory: Bool = false) {
        changes.add(FoldedChanges.Change(kind: kind, path: path(name), isDirectory: isDirectory))
    }

    private func move(
        _ source: String, _ target: String, replacing: Bool = false, isDirectory: Bool = false
    ) {
        changes.add(
            FoldedChanges.Change(
                kind: .moved(from: path(source)), path: path(target), isDirectory: isDirectory,
                replaces: replacing))
    }

    /// What is told, in order. `nil` if that cannot be.
    private mutating func told() -> [String]? {
        let folded = changes
        changes = FoldedChanges()
        return folded.tell()?.map { change in
            switch change.kind {
            case .moved(let source): "\(source) → \(change.path)"
            default: "\(change.kind) \(change.path)"
            }
        }
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
        #expect(changes.count == 0)
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

    @Test("renames in a row become one, and a file that comes back may be another one")
    mutating func renames() {
        move("a", "b")
        add(.modified, "b")
        move("b", "c")
        move("x", "y")
        move("y", "x")
        move("old", "new")
        add(.removed, "new")
        #expect(told() == ["a → c", "modified x", "removed old"])
    }

    @Test("a rename over a file that was itself renamed loses that")
    mutating func overwritten() {
        move("a", "b")
        move("c", "b", replacing: true)
        #expect(told() == ["removed a", "c → b"])
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
        #expect(told() == ["created e", "created e/x", "created e/y", "created dx"])
        add(.created, "e/z")
        add(.removed, "e/old")
        add(.removed, "e", isDirectory: true)
        #expect(told() == ["removed e"])
    }

    @Test("a file that was replaced is removed when the other goes on, and what comes back was written")
    mutating func replacedAndGone() {
        move("a", "b", replacing: true)
        move("b", "c")
        move("d", "e", replacing: true)
        add(.removed, "e")
        move("f", "g", replacing: true)
        move("g", "f")
        move("h", "i")
        add(.modified, "i")
        move("i", "h")
        #expect(
            told() == [
                "a → c", "removed b", "removed d", "removed e", "modified f", "removed g", "modified h",
            ])
    }

    @Test("a directory that is removed and made again is both, since what was in it has gone")
    mutating func madeAgain() {
        add(.removed, "a", isDirectory: true)
        add(.created, "a")
        add(.created, "a/x")
        #expect(told() == ["removed a", "created a", "created a/x"])
        add(.removed, "b", isDirectory: true)
        add(.created, "b")
        add(.removed, "b")
        #expect(told() == ["removed b"])
    }

    @Test("a name that is used again is told behind the rename of the file that had it")
    mutating func usedAgain() {
        move("a", "b")
        add(.created, "a")
        move("b", "c")
        move("x", "y")
        move("w", "x")
        #expect(told() == ["a → c", "created a", "x → y", "w → x"])
    }

    @Test("what leaves a directory that goes, or is replaced, does so first")
    mutating func saved() {
        move("d/x", "y")
        add(.removed, "d/z")
        add(.removed, "d", isDirectory: true)
        move("e", "d", isDirectory: true)
        move("d/f", "d/g")
        #expect(told() == ["d/x → y", "removed d", "e → d", "d/f → d/g"])
        move("a/b", "b", isDirectory: true)
        move("a", "b/a", isDirectory: true)
        #expect(told() == ["a/b → b", "a → b/a"])
    }

    @Test("of files that change places one is made anew, and of directories all renames are told")
    mutating func changedPlaces() {
        move("a", "t")
        move("b", "a")
        move("t", "b")
        #expect(told() == ["removed a", "b → a", "created b"])
        move("a", "t", isDirectory: true)
        move("b", "a", isDirectory: true)
        move("t", "b", isDirectory: true)
        #expect(told() == ["a → t", "b → a", "t → b"])
    }

    @Test(
        "what waits for too much else is told as it came, and no more than is kept",
        arguments: [1000, 10_000], [0, 1000])
    mutating func patience(count: Int, told before: Int) {
        // What has its place already is waited for no more.
        for number in 0..<before { add(.created, "n\(number)") }
        for number in 0..<count { move("a\(number)", "t\(number)") }
        for number in 0..<count { move("t\(number)", "a\(number + 1)") }
        #expect(told()?.count == (count == 1000 ? before + 2000 : nil))
    }

    @Test("a row of 500 renames that wait for each other is followed to its end, and one of 501 is not")
    mutating func longest() {
        for (count, told) in [(500, 501), (501, 1003)] {
            add(.created, "n")
            for number in 0..<count { move("a\(number)", "t\(number)") }
            for number in 0..<count { move("t\(number)", "a\(number + 1)") }
            #expect(self.told()?.count == told)
        }
    }

    @Test("of changes that have no order, 10,000 are told as they came")
    mutating func memory() {
        for (count, told) in [(9_997, 10_000), (9_998, nil)] {
            for _ in 0..<count { add(.modified, "x") }
            move("a", "t", isDirectory: true)
            move("b", "a", isDirectory: true)
            move("t", "b", isDirectory: true)
            #expect(self.told()?.count == told)
        }
    }

    @Test("what is removed with its directory does not count any more")
    mutating func removedWithDirectory() {
        add(.removed, "d/x")
        move("d/e/y", "y")
        add(.removed, "d/e", isDirectory: true)
        add(.removed, "y")
        #expect(changes.count == 3)
        add(.removed, "d", isDirectory: true)
        #expect(changes.count == 1)
        #expect(told() == ["removed d"])
    }

    @Test("whatever happens, what is told leads from what was known to what is there", arguments: [1, 3])
    mutating func random(bursts: Int) {
        var random = SeededGenerator(seed: SeededGenerator.seed)
        var (tree, reader) = (RandomTree(), RandomTree())
        for _ in 0..<(isSoaking ? 100_000 : 2000) {
            var happened: [String] = []
            for _ in 0..<bursts {
                // What is told of a burst is added to what was told of those before.
                let burst = FoldedChanges()
                for _ in 0...random.below(12) {
                    for change in tree.change(&random) {
                        happened.append("\(change.kind) \(change.path)")
                        burst.add(change)
                    }
                }
                for change in burst.tell()! { changes.add(change) }
            }
            let ready = changes
            changes = FoldedChanges()
            let told = ready.tell()!
            for change in told where !ready.hasNoOrder {
                let canBe = reader.apply(change, lookingAt: tree)
                #expect(canBe, "\(change.kind) \(change.path)")
            }
            // What is told as it came is nothing to look at: it was so for a while only.
            if ready.hasNoOrder { reader = tree }
            guard reader.entries != tree.entries else { continue }
            Issue.record("\(happened) told as \(told.map { "\($0.kind) \($0.path)" })")
            return
        }
    }
}
