// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ promise: Promise<Int>) async {
    await withTaskGroup { group in
        group.addTask { _ = promise.succeed(1) }
    }
}
