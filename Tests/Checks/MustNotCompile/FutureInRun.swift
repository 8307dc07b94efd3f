// expect: capture of 'future' with non-Sendable type 'Future<Int>' in a '@Sendable' closure
import UVFutures

func carry(_ future: Future<Int>, loop: EventLoop) async throws -> Int {
    try await loop.run { future }
}
