import Futures
import Testing

struct FutureFailureTests {
    private typealias Typed = TypedFuture<Int, Refusal>

    @Test(
        "a typed future says its failure without a cast: to a switch that needs no default",
        arguments: Driver.allCases)
    func exhaustive(driver: Driver) throws {
        try withLoop(driver) { loop in
            func word(_ result: Result<Int, FutureFailure<Refusal>>?) -> String {
                switch result {
                case nil: "pending"
                case .success: "value"
                case .failure(.failure(.refused)): "refused"
                case .failure(.failure(.tooLate)): "too late"
                case .failure(.cancelled): "cancelled"
                case .failure(.broken): "broken"
                }
            }
            func word(_ result: Result<Int, FutureFailure<Never>>?) -> String {
                switch result {
                case nil: "pending"
                case .success: "value"
                case .failure(.cancelled): "cancelled"
                case .failure(.broken): "broken"
                }
            }
            #expect(word(Typed.failed(.tooLate, on: loop).ignoreFailure().result) == "too late")
            #expect(word(Typed.completed(.failure(.refused), on: loop).ignoreFailure().result) == "refused")
            #expect(word(Typed.succeeded(1, on: loop).result) == "value")
            #expect(word(TypedFuture<Int, Never>.succeeded(1, on: loop).result) == "value")
            let promise = loop.makePromise(of: Int.self, failingWith: Never.self)
            promise.cancel()
            #expect(word(promise.future.result) == "cancelled")
        }
    }
}
