import Futures
import Testing

struct BodyExecutorTests {
    @Test(
        "what a body of the loop gives to its own children, and to actors without an executor, stays on the loop",
        arguments: Driver.allCases,
        [
            CarryingTests.Way.asyncLet, .concurrentFunction, .foreignActor, .foreignActorMakes,
            .foreignActorAwaits,
        ])
    func staysInBody(driver: Driver, way: CarryingTests.Way) async throws {
        try await withLoopOnThread(driver) { loop in
            try loop.run(until: Future(on: loop) { try await CarryingTests.carry(way, loop) })
        }
    }

    @Test("the same where the loop is, by way of other threads", arguments: Driver.allCases)
    func stays(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let done = Future(on: loop) {
                let (future, holder) = (
                    loop.succeeded(1), CarryingTests.Holder(loop.makePromise(of: Int.self))
                )
                let two = await Task.detached { 2 }.value
                future.whenSuccess { holder.promise.succeed($0 + two) }
                return try await holder.promise.future.value
            }
            try expect(done, succeedsWith: 3)
        }
    }
}
