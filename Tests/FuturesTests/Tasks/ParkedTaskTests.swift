import Futures
import Testing

struct ParkedTaskTests {
    @Test(
        "a body that is cancelled in the turn in which what it awaits has completed gets the value",
        arguments: Driver.allCases)
    func nothingLost(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var got: Int?
            let future = Future(on: loop) { got = try await promise.future.value }
            try settle(loop)
            let job = loop.submit {
                #expect(promise.succeed(1))
                #expect(future.cancel())
            }
            try loop.run(until: job)
            try loop.run()
            #expect(got == 1)
        }
    }
}
