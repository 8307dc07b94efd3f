// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ watch: FileWatch) {
    Task { _ = watch.next() }
}
