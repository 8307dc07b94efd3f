// expect: sending 'promise' risks causing data races
import UVFutures

func carry(_ promise: Promise<Int>) async {
    async let succeeded = { promise.succeed(1) }()
    _ = await succeeded
}
