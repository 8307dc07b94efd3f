import Testing

@testable import SystemIO
@testable import UVFutures

struct WatchedDirectoryTests {
    private func name(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    @Test("a directory knows its path, also after it was moved")
    func paths() {
        let root = WatchedDirectory(.here, in: nil)
        let a = WatchedDirectory(name("a"), in: root)
        let b = WatchedDirectory(name("b"), in: a)
        (root.entries[name("a")], a.entries[name("b")]) = (.some(a), .some(b))
        #expect(root.path(of: name("x")).description == "x")
        #expect(b.path(of: name("x")).description == "a/b/x")
        #expect(b.names.map(\.description) == ["a", "b"])
        #expect(root.all.count == 3)
        #expect(b.isBelow(root) && b.isBelow(a) && a.isBelow(a) && !a.isBelow(b))
        a.entries[name("b")] = nil
        #expect(!b.isBelow(root) && !b.isBelow(a))
        root.entries[name("c")] = .some(b)
        b.move(to: root, as: name("c"))
        #expect(b.path(of: name("x")).description == "c/x")
        #expect(a.all.count == 1)
    }
}
