import FoundationEssentials
import Testing
import UVFutures

@testable import FuturesTesting

struct DiskStateTests {
    private func name(_ text: String) -> RelativePath { RelativePath(bytes: Array(text.utf8)) }

    private func names(_ state: DiskState) -> [String] {
        state.inodes[DiskState.root]!.entries.keys.map(\.description).sorted()
    }

    /// What names there are after a loss of power, over many seeds.
    private func afterLoss(_ body: (inout DiskState) throws -> Void) rethrows -> Set<[String]> {
        Set(
            try (0..<UInt64(60)).map { seed in
                var state = DiskState()
                state.random = SplitMix(seed)
                try body(&state)
                state.losePower()
                return names(state)
            })
    }

    @Test("a name that is not synchronised is there or not after a loss of power, and others are")
    func names() throws {
        let left = try afterLoss { state in
            let old = state.make(.regularFile, permissions: 0o644)
            state.add(old, as: name("old"), to: DiskState.root)
            state.syncNames(of: DiskState.root)
            state.add(state.make(.regularFile, permissions: 0o644), as: name("new"), to: DiskState.root)
            try state.rename(
                name("old"), in: DiskState.root, to: name("renamed"), in: DiskState.root, replacing: true)
        }
        #expect(left == [["old"], ["new", "old"], ["renamed"], ["new", "renamed"]])
    }

    @Test("a file that was replaced by another is there again if the rename is lost")
    func replaced() throws {
        let left = try afterLoss { state in
            let (old, new) = (
                state.make(.regularFile, permissions: 0o644), state.make(.regularFile, permissions: 0o644)
            )
            state.add(old, as: name("a"), to: DiskState.root)
            state.add(new, as: name("b"), to: DiskState.root)
            state.syncNames(of: DiskState.root)
            try state.rename(
                name("b"), in: DiskState.root, to: name("a"), in: DiskState.root, replacing: true)
        }
        #expect(left == [["a", "b"], ["a"]])
    }

    @Test("a file that nothing names and nobody has open takes no space")
    func freed() throws {
        var state = DiskState()
        state.capacity = 100
        for _ in 0..<10 {
            let file = state.make(.regularFile, permissions: 0o644)
            state.add(file, as: name("x"), to: DiskState.root)
            try state.needSpace(60, "write")
            state.inodes[file]!.write(Data(count: 60), at: 0)
            #expect(throws: SystemError.self) { try state.needSpace(60, "write") }
            let open = state.opened(file)
            try state.remove(name("x"), from: DiskState.root, isDirectory: false, "unlink")
            state.syncNames(of: DiskState.root)
            #expect(state.usedBytes == 60)
            state.closed(file, open: open)
            #expect(state.usedBytes == 0)
        }
        #expect(state.inodes.count == 1)
    }

    @Test("what is older than half a minute is on the disk")
    func writeBack() {
        var state = DiskState()
        let file = state.make(.regularFile, permissions: 0o644)
        state.add(file, as: name("x"), to: DiskState.root)
        state.inodes[file]!.write(Data(count: 10), at: 0)
        state.touched(file)
        state.time = 29_000_000_000
        state.writeBack()
        #expect(state.nameChanges.count == 1)
        state.time = 35_000_000_000
        state.writeBack()
        #expect(state.nameChanges.isEmpty && state.inodes[file]!.writes.isEmpty)
        state.losePower()
        #expect(names(state) == ["x"] && state.inodes[file]!.contents.count == 10)
    }

    @Test("what is in a directory within another one is there after a loss of power")
    func directories() {
        var state = DiskState()
        var last = DiskState.root
        for text in ["a", "b"] {
            let directory = state.make(.directory, permissions: 0o755)
            state.add(directory, as: name(text), to: last)
            last = directory
        }
        let file = state.make(.regularFile, permissions: 0o644)
        state.add(file, as: name("x"), to: last)
        state.inodes[file]!.write(Data(count: 10), at: 0)
        state.touched(file)
        state.syncAll()
        state.losePower()
        #expect(names(state) == ["a"])
        #expect(state.inodes[last]?.entries == [name("x"): file])
        #expect(state.inodes[file]?.contents.count == 10)
    }
}
