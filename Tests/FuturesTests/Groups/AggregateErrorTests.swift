import Futures
import Testing

struct AggregateErrorTests {
    @Test(
        "all that waits for every input fails with all errors in input order, which count more than cancellation",
        arguments: Driver.allCases)
    func errors(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future), failFast: false)
            promises[3].fail(Failure(3))
            promises[2].cancel()
            promises[1].fail(Failure(1))
            promises[0].succeed(0)
            let error = #expect(throws: AggregateError.self) { try loop.run(until: all) }
            #expect(error?.errors as? [Failure] == [Failure(1), Failure(3)])
            #expect(error.map { "\($0)" } == "2 errors: Failure(code: 1); Failure(code: 3)")
        }
    }

    @Test("the text of an aggregate names eight errors, and counts the others")
    func text() {
        let listed = (0..<8).map { "Failure(code: \($0))" }.joined(separator: "; ")
        #expect("\(AggregateError((0..<8).map { Failure($0) }))" == "8 errors: \(listed)")
        #expect("\(AggregateError((0..<9).map { Failure($0) }))" == "9 errors: \(listed); and 1 more")
        #expect("\(AggregateError((0..<10).map { Failure($0) }))" == "10 errors: \(listed); and 2 more")
    }

    @Test("errors can be added to an aggregate")
    func add() {
        var error = AggregateError()
        error.add(Failure(1))
        error.add(Failure(2))
        #expect(error.errors as? [Failure] == [Failure(1), Failure(2)])
    }
}
