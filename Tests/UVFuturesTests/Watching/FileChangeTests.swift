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
}
