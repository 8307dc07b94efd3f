// expect: sending 'future' risks causing data races
import UVFutures

func carry(_ future: Future<Int>, in continuation: AsyncStream<Future<Int>>.Continuation) {
    continuation.yield(future)
}
