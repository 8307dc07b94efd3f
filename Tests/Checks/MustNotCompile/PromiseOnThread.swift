// expect: capture of 'promise' with non-Sendable type 'Promise<Int>' in a '@Sendable' closure
import Foundation
import UVFutures

func carry(_ promise: Promise<Int>) {
    Thread.detachNewThread { promise.succeed(1) }
}
