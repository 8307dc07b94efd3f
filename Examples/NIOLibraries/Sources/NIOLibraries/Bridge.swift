import NIOCore
import UVFutures

extension EventLoopFuture where Value: Sendable {
    /// Completes on `loop` with the outcome of this future. A future of SwiftNIO cannot be cancelled. If the returned future is
    /// cancelled, `cancel` is called, which may end the work.
    nonisolated func future(
        on loop: UVFutures.EventLoop, cancel: @escaping @Sendable () -> Void = {}
    ) -> Future<Value> {
        let promise = loop.makeRemotePromise(of: Value.self)
        promise.onCancelRequest {
            cancel()
            return .cancel
        }
        whenComplete { promise.complete($0) }
        return promise.future
    }
}

extension NIOCore.EventLoop {
    /// Calls `body` on `loop`, and completes on this event loop with the outcome of the future that `body` returns.
    nonisolated func future<Value: Sendable>(
        from loop: UVFutures.EventLoop, _ body: @escaping @Sendable () throws -> Future<Value>
    ) -> EventLoopFuture<Value> {
        let promise = makePromise(of: Value.self)
        loop.execute {
            do {
                try body().whenComplete { promise.completeWith($0) }
            } catch {
                promise.fail(error)
            }
        }
        return promise.futureResult
    }
}
