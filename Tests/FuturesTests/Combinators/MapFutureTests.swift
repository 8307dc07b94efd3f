import Futures
import Testing

struct MapFutureTests {
    @Test(
        "a handler gets the future itself, also when its token is cancelled before",
        arguments: Driver.allCases)
    func mapFuture(driver: Driver) throws {
        try withLoop(driver) { loop in
            for context in [LocalContext.loop, .immediate, .nextTurn] {
                for outcome in Outcome.allCases {
                    let source = CancellationSource(on: loop)
                    let promise = loop.makePromise(of: Int.self)
                    let future = promise.future.ignoreFailure()
                    let described = future.mapFuture(on: context, token: source.token) {
                        "\($0.id == future.id) \($0)"
                    }
                    outcome.complete(promise)
                    try expect(described, succeedsWith: "true \(future)")

                    let pending = loop.makePromise(of: Int.self)
                    let early = pending.future.mapFuture(on: context, token: source.token) { future in
                        future.mapResult { _ in future.isCompleted }
                    }
                    let late = pending.future.map { $0 }
                    source.cancel()
                    let heard = try loop.run(until: early)
                    #expect(!heard.isCompleted && !pending.future.isCompleted)
                    let again = pending.future.mapFuture(token: source.token) { $0.isCompleted }
                    try expect(again, succeedsWith: false)
                    outcome.complete(pending)
                    try expect(heard, succeedsWith: true)
                    late.ignoreFailure()
                }
            }
            expect(loop.succeeded(1).mapFuture { _ in throw Failure(3) }, failsWith: Failure(3))
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.future.mapFuture { _ in 1 }.cancel() && promise.future.isCompleted)
        }
    }

    @Test("a future that nobody holds any more is handed on as cancelled", arguments: Driver.allCases)
    func mapFutureThatIsGone(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let described = promise.future.map { $0 }.mapFuture(on: .nextTurn, token: source.token) {
                "\($0)"
            }
            source.cancel()
            promise.succeed(1)
            try expect(described, succeedsWith: "Future(cancelled)")
        }
    }
}
