// expect: capture of 'promise' with non-Sendable type 'Promise<Int>' in a '@Sendable' closure
import Dispatch
import UVFutures

func carry(_ promise: Promise<Int>) {
    DispatchQueue.global().async { promise.succeed(1) }
}
