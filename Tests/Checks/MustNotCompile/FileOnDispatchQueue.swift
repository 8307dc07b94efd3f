// expect: capture of 'file' with non-Sendable type 'File' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ file: File) {
    DispatchQueue.global().async { _ = file.close() }
}
