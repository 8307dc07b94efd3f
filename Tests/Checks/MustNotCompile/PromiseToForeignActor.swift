// expect: sending 'promise' risks causing data races
import UVFutures

actor Foreign {
    func complete(_ promise: Promise<Int>) { promise.succeed(1) }
}

func carry(_ promise: Promise<Int>) async {
    await Foreign().complete(promise)
}
