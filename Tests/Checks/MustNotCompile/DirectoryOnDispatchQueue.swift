// expect: capture of 'directory' with non-Sendable type 'Directory' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ directory: Directory) {
    DispatchQueue.global().async { _ = directory.close() }
}
