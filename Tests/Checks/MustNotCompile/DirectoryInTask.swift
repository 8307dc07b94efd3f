// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ directory: Directory) {
    Task { _ = directory.open("a") }
}
