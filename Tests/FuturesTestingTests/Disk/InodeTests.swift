import FoundationEssentials
import Testing
import UVFutures

@testable import FuturesTesting

struct InodeTests {
    private func torn(seed: UInt64, _ body: (inout Inode) -> Void) -> Data {
        var inode = Inode(.regularFile, permissions: 0o644, at: .zero)
        body(&inode)
        var random = SplitMix(seed)
        inode.tear(&random)
        #expect(inode.writes.isEmpty)
        return inode.safeContents.all
    }

    @Test("what was synchronised is there, and of the rest some sectors, each as a whole")
    func sectors() {
        var sizes: Set<Int> = []
        for seed in 0..<UInt64(50) {
            let left = torn(seed: seed) { inode in
                inode.write(Data(repeating: 1, count: 1000), at: 0)
                inode.syncContents()
                inode.write(Data(repeating: 2, count: 2000), at: 700)
            }
            #expect(left.count >= 1000 && left.prefix(700) == Data(repeating: 1, count: 700))
            sizes.insert(left.count)
            for start in stride(from: 1024, to: left.count, by: 512) {
                #expect(Set(left[start..<min(start + 512, left.count)]).count == 1)
            }
        }
        #expect(sizes.isSuperset(of: [1000, 1024, 2048, 2700]))
    }

    @Test("a file that was cut off or extended is so, or is not")
    func sizes() {
        let sizes = Set(
            (0..<UInt64(50)).map { seed in
                torn(seed: seed) { inode in
                    inode.write(Data(count: 100), at: 0)
                    inode.syncContents()
                    inode.resize(to: 10)
                    inode.resize(to: 200)
                }.count
            })
        #expect(sizes == [10, 100, 200])
    }

    @Test("what programs read is what they have written")
    func contents() {
        var inode = Inode(.regularFile, permissions: 0o644, at: .zero)
        inode.write(Data("abc".utf8), at: 2)
        inode.resize(to: 4)
        inode.write(Data("x".utf8), at: 0)
        #expect(inode.contents.all == Data("x\0ab".utf8))
        #expect(inode.safeContents.count == 0)
    }
}
