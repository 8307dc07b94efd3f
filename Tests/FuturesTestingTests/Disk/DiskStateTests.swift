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

    @Test("the system looks every five seconds for what is half a minute old")
    func writeBackTimes() {
        var state = DiskState()
        var files: [UInt64] = []
        var (names, contents): ([Int], [Int]) = ([], [])
        for second in 0...40 {
            state.time = UInt64(second) * 1_000_000_000
            if second == 0 || second == 2 {
                let file = state.make(.regularFile, permissions: 0o644)
                state.add(file, as: name("\(second)"), to: DiskState.root)
                state.inodes[file]!.write(Data(count: 10), at: 0)
                state.touched(file)
                files.append(file)
            }
            state.writeBack()
            names.append(files.count { state.inodes[$0]!.safeLinkCount == 1 })
            contents.append(files.count { state.inodes[$0]!.safeContents.count == 10 })
        }
        let expected = (0...40).map { $0 < 30 ? 0 : $0 < 35 ? 1 : 2 }
        #expect(names == expected)
        #expect(contents == expected)
        #expect(state.dirty.isEmpty)
    }

    @Test("a disk performs as many operations as are left, and one that fails performs two in three")
    func operations() {
        var state = DiskState()
        func performs(_ mount: Int? = nil) -> Bool {
            (try? state.begin(.read, "read", mount: mount ?? state.mount)) != nil
        }
        state.operationsLeft = 2
        #expect((0..<4).map { _ in performs() } == [true, true, false, false])
        state.operationsLeft = nil
        #expect(performs() && !performs(state.mount + 1))
        state.failures = 1
        let failed = (0..<3000).count { _ in !performs() }
        #expect((900...1100).contains(failed), "\(failed)")
        (state.failures, state.failing) = (0, [.write])
        #expect(performs())
    }

    @Test("writes that a disk gives up count as written, unless the power is lost already")
    func givenUp() {
        for left in [nil, 0, 1, 2] {
            var state = DiskState()
            let file = state.make(.regularFile, permissions: 0o644)
            state.inodes[file]!.write(Data(count: 51_200), at: 0)
            state.operationsLeft = left
            state.giveUpWrites(of: file)
            state.giveUpWrites(of: file + 1)
            #expect(state.inodes[file]!.writes.isEmpty == (left != 0))
            #expect((state.inodes[file]!.safeContents.count > 0) == (left != 0))
        }
    }

    @Test("what was open when the power was lost takes no space once it is removed")
    func openAtLoss() throws {
        var state = DiskState()
        let directory = state.make(.directory, permissions: 0o755)
        state.add(directory, as: name("d"), to: DiskState.root)
        let file = state.make(.regularFile, permissions: 0o644)
        state.add(file, as: name("x"), to: directory)
        _ = state.opened(file, by: DiskName(directory: directory, name: name("x")))
        _ = state.opened(directory)
        state.syncAll()
        state.losePower()
        #expect(state.openFiles.isEmpty)
        try state.remove(name("x"), from: directory, isDirectory: false, "unlink")
        try state.remove(name("d"), from: DiskState.root, isDirectory: true, "rmdir")
        state.syncAll()
        #expect(state.inodes.count == 1)
    }

    @Test("after a loss of power, each file has the links that it had")
    func linksAfterLoss() throws {
        var state = DiskState()
        let (above, below) = (
            state.make(.directory, permissions: 0o755), state.make(.directory, permissions: 0o755)
        )
        state.add(above, as: name("a"), to: DiskState.root)
        state.add(below, as: name("b"), to: above)
        let file = state.make(.regularFile, permissions: 0o644)
        state.add(file, as: name("x"), to: below)
        state.add(file, as: name("y"), to: DiskState.root)
        let all = [DiskState.root, above, below, file]
        #expect(all.map { state.inodes[$0]!.linkCount } == [3, 3, 2, 2])
        state.syncAll()
        state.losePower()
        #expect(all.map { state.inodes[$0]!.linkCount } == [3, 3, 2, 2])
        try state.remove(name("x"), from: below, isDirectory: false, "unlink")
        state.syncAll()
        #expect(state.inodes[file]?.linkCount == 1)
        try state.remove(name("y"), from: DiskState.root, isDirectory: false, "unlink")
        state.syncAll()
        #expect(state.inodes[file] == nil)
    }

    @Test("a rename across two directories is on the disk once either is synchronised, and no other")
    func syncedRename() throws {
        for synced in 0..<3 {
            var state = DiskState()
            let directories = ["a", "b", "c"].map { text in
                let directory = state.make(.directory, permissions: 0o755)
                state.add(directory, as: name(text), to: DiskState.root)
                return directory
            }
            let file = state.make(.regularFile, permissions: 0o644)
            state.add(file, as: name("x"), to: directories[0])
            state.syncAll()
            try state.rename(
                name("x"), in: directories[0], to: name("y"), in: directories[1], replacing: true)
            state.syncNames(of: directories[synced])
            #expect(state.nameChanges.isEmpty == (synced < 2))
            #expect(state.inodes[directories[0]]!.safeEntries.isEmpty == (synced < 2))
            #expect(state.inodes[directories[1]]!.safeEntries.isEmpty == (synced == 2))
        }
    }

    @Test("a change in a directory that is gone is lost with the power")
    func lostDirectory() throws {
        let left = try afterLoss { state in
            let directory = state.make(.directory, permissions: 0o755)
            state.add(directory, as: name("d"), to: DiskState.root)
            state.syncNames(of: DiskState.root)
            state.add(state.make(.regularFile, permissions: 0o644), as: name("x"), to: directory)
            try state.remove(name("x"), from: directory, isDirectory: false, "unlink")
            try state.remove(name("d"), from: DiskState.root, isDirectory: true, "rmdir")
            state.syncNames(of: DiskState.root)
        }
        #expect(left == [[]])
    }

    @Test("a directory that was renamed twice has one of its names after a loss of power")
    func renamedTwice() throws {
        let left = try afterLoss { state in
            let directory = state.make(.directory, permissions: 0o755)
            state.add(directory, as: name("a"), to: DiskState.root)
            state.syncNames(of: DiskState.root)
            for (old, new) in [("a", "b"), ("b", "c")] {
                try state.rename(
                    name(old), in: DiskState.root, to: name(new), in: DiskState.root, replacing: true)
            }
        }
        #expect(left == [["a"], ["b"], ["c"]])
    }
}
