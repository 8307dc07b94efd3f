// expect: sending 'future' risks causing data races
import UVFutures

@concurrent func observe(_ future: Future<Int>) async { future.whenSuccess { _ in } }

@MainActor func carry(_ future: Future<Int>) async {
    await observe(future)
}
