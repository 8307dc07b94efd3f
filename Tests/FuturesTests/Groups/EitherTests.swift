import Futures
import Testing

struct EitherTests {
    @Test("an FutureEither is its left or its right thing, equal only on the same side")
    func either() throws {
        let (left, right) = (FutureEither<Int, String>.left(1), FutureEither<Int, String>.right("1"))
        #expect(left.left == 1 && left.right == nil)
        #expect(right.left == nil && right.right == "1")
        #expect(Set([left, right, .left(1), .left(2)]).count == 3)
        #expect(left.map(left: { $0 + 1 }, right: { $0.count }) == .left(2))
        for either in [left, right] {
            let text = either.map(left: { number in "\(number)" }, right: \.self).value
            #expect(text == "1")
        }
        #expect(throws: Failure(1)) {
            try right.map(left: { $0 }, right: { _ in throw Failure(1) }) as FutureEither<Int, Int>
        }
    }
}
