// expect: non-Sendable type 'Promise<Int>' of property 'promise' cannot exit actor-isolated context
import UVFutures

actor Owner {
    private let promise: Promise<Int>

    init(on loop: EventLoop) { promise = loop.makePromise(of: Int.self) }

    func carry() {
        Task.detached { self.promise.succeed(1) }
    }
}
