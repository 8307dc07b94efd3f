// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

final class Request {
    let promise: Promise<Int>

    init(_ promise: Promise<Int>) { self.promise = promise }
}

func carry(_ promise: Promise<Int>) {
    let request = Request(promise)
    Task.detached { request.promise.succeed(1) }
}
