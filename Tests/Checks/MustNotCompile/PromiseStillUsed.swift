// expect: sending value of non-Sendable type '() async -> Bool' risks causing data races
import UVFutures

func carry(on loop: EventLoop) {
    let promise = loop.makePromise(of: Int.self)
    Task.detached { promise.succeed(1) }
    promise.succeed(2)
}
