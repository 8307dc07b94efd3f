// expect: stored property 'future' of 'Sendable'-conforming class 'Message' has non-Sendable type 'Future<Int>'
import UVFutures

final class Message: Sendable {
    let future: Future<Int>

    init(_ future: Future<Int>) { self.future = future }
}
