// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ lock: FileLock) {
    Task { _ = lock.release() }
}
