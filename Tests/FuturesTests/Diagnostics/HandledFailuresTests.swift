import Futures
import FuturesTesting
import Testing

/// Which failures are nobody's loss: of futures that somebody else observes, has ended, or does not need any more.
struct HandledFailuresTests {
    private typealias Row = (name: String, reports: Int, make: (EventLoop, CancellationToken) -> Void)

    /// `token` is cancelled.
    private let rows: [Row] = [
        ("map, token", 0, { loop, token in _ = fail(loop).map(token: token) { $0 } }),
        ("flatMap, token", 0, { loop, token in _ = fail(loop).flatMap(token: token) { _ in fail(loop) } }),
        ("whenFailure, token", 0, { loop, token in fail(loop).whenFailure(token: token) { _ in } }),
        ("whenComplete, token", 0, { loop, token in fail(loop).whenComplete(token: token) { _ in } }),
        ("whenSuccess, token", 1, { loop, token in fail(loop).whenSuccess(token: token) { _ in } }),
        ("whenCancelled, token", 1, { loop, token in fail(loop).whenCancelled(token: token) {} }),
        (
            "whilePending, token", 0,
            { loop, token in _ = fail(loop).whilePending(token: token) { Disposer() } }
        ),
        ("timeout, token", 0, { loop, token in _ = fail(loop).timeout(after: .seconds(1), token: token) }),
        ("all, token", 0, { loop, token in _ = Future.all([fail(loop), fail(loop)], token: token) }),
        ("all", 1, { loop, _ in _ = Future.all([fail(loop), fail(loop)]) }),
        ("all, not fast", 0, { loop, _ in Future.all([fail(loop)], failFast: false).ignoreFailure() }),
        ("race", 0, { loop, _ in _ = Future.race([loop.succeeded(1), fail(loop)]) }),
        ("and", 1, { loop, _ in _ = fail(loop).and(fail(loop)) }),
        ("sequence", 1, { loop, _ in _ = Future.sequence([fail(loop), fail(loop)]) }),
        ("traverse", 1, { loop, _ in _ = loop.traverse([1, 2]) { _ in fail(loop) } }),
        (
            "two observers of success", 1,
            { loop, _ in
                let future = later(loop)
                for _ in 0..<2 { future.whenSuccess { _ in } }
            }
        ),
        (
            "complete(using:)", 1,
            { loop, _ in
                let promise = loop.makePromise(of: Int.self)
                promise.complete(using: fail(loop))
            }
        ),
        (
            "complete(using:), pending", 1,
            { loop, _ in
                let (promise, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
                promise.complete(using: other.future)
                other.fail(Failure(1))
            }
        ),
        ("abort", 1, { loop, _ in _ = fail(loop).abort(when: [loop.failed(Failure(2))]) }),
        ("recover", 0, { loop, _ in _ = fail(loop).recover { _ in 1 } }),
        ("allSettled", 0, { loop, _ in _ = Future.allSettled([fail(loop)]) }),
        ("typed", 1, { loop, _ in _ = TypedFuture<Int, Failure>.failed(Failure(1), on: loop) }),
        (
            "typed, ignored", 0,
            { loop, _ in _ = TypedFuture<Int, Failure>.failed(Failure(1), on: loop).ignoreFailure() }
        ),
        ("shielded from requests", 1, { loop, _ in _ = fail(loop).ignoringCancellation() }),
        ("ignored", 0, { loop, _ in fail(loop).ignoreFailure() }),
        ("queued", 1, { loop, _ in FutureQueue(on: loop).enqueue { fail(loop) } }),
    ]

    @Test("a failure is reported if nobody has observed it, and then once")
    func reports() throws {
        for row in rows {
            try withLoop(.virtual) { loop in
                var reports = 0
                loop.onUnhandledFailure = { _ in reports += 1 }
                let source = CancellationSource(on: loop)
                source.cancel()
                row.make(loop, source.token)
                loop.advance(by: .zero)
                try settle(loop)
                #expect(reports == row.reports, "\(row.name)")
            }
        }
    }
}

private func fail(_ loop: EventLoop) -> Future<Int> { loop.failed(Failure(1)) }

/// Fails in the next turn.
private func later(_ loop: EventLoop) -> Future<Int> { loop.submit { throw Failure(1) } }
