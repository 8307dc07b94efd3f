// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ future: Future<Int>) {
    Task.detached { future.whenComplete { _ in } }
}
