// expect: capture of 'watch' with non-Sendable type 'FileWatch' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ watch: FileWatch) {
    DispatchQueue.global().async { _ = watch.next() }
}
