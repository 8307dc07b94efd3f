// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func end(_ process: ChildProcess) {
    Task { _ = process.end() }
}
