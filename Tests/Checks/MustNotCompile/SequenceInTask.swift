// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ sequence: LoopSequence<Int>) {
    Task.detached { for try await _ in sequence {} }
}
