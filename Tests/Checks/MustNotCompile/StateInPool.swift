// expect: capture of 'promise' with non-Sendable type 'Promise<Int>' in a '@Sendable' closure
import UVFutures

func carry(_ promise: Promise<Int>, _ future: Future<Int>) -> Future<Bool> {
    future.map(on: .pool) { promise.succeed($0) }
}
