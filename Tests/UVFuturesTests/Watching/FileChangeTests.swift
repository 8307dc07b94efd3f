import Testing
import UVFutures

struct FileChangeTests {
    @Test("a change says in one line what has happened")
    func descriptions() {
        let kinds: [FileChange.Kind] = [
            .created, .modified, .attributes, .removed, .moved(from: "b"), .lookAgain,
        ]
        #expect(
            kinds.map { "\(FileChange(path: "a", kind: $0))" } == [
                "created a", "modified a", "attributes of a", "removed a", "moved b to a", "look again",
            ])
    }

    @Test("two changes are equal if they are of one kind, and their paths have the same bytes")
    func equality() {
        let (one, other) = ("\u{e9}", "e\u{301}")
        let kinds: [FileChange.Kind] = [
            .created, .modified, .attributes, .removed, .moved(from: one), .moved(from: other), .lookAgain,
        ]
        for (index, kind) in kinds.enumerated() {
            for (position, another) in kinds.enumerated() {
                let isEqual = FileChange(path: one, kind: kind) == FileChange(path: one, kind: another)
                #expect(isEqual == (index == position), "\(kind) and \(another)")
            }
            #expect(FileChange(path: one, kind: kind) != FileChange(path: other, kind: kind))
        }
    }
}
