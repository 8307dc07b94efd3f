import Testing

@testable import SystemIO
@testable import UVFutures

struct UniqueNumbersTests {
    @Test("loops that take numbers by turns never take the same one")
    func unique() {
        var (first, second) = (UniqueNumbers(), UniqueNumbers())
        let count = 2 * Int(UniqueNumbers.blockSize) + 1
        let taken = (0..<count).flatMap { _ in [first.next(), second.next()] }
        #expect(Set(taken).count == 2 * count)
    }
}
