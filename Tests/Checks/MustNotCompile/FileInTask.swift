// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ file: File) {
    Task { _ = file.information() }
}
