// expect: instance method 'wait' is unavailable from asynchronous contexts
import UVFutures

func block(_ loop: EventLoop) async throws -> Int {
    try loop.wait { loop.succeeded(1) }
}
