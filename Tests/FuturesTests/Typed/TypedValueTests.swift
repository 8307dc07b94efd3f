import Futures
import Testing

/// Awaiting typed futures.
struct TypedValueTests {
    @Test(
        "value of a typed future throws its failure, or that it was cancelled or broken, by type",
        arguments: Driver.allCases)
    func outcomes(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let seen = Record()
            func look(_ future: TypedFuture<Int, Refusal>) -> Future<Void> {
                Future(on: loop) {
                    do throws(FutureFailure<Refusal>) {
                        seen.add(try await future.value)
                    } catch .failure(let refusal) {
                        seen.add(refusal)
                    } catch .cancelled {
                        seen.add("cancelled")
                    } catch .broken(let error) {
                        seen.add("broken: \(error)")
                    }
                    #expect(loop.isCurrent)
                }
            }
            var promises = (0..<4).map { number in
                loop.makePromise(of: Int.self, failingWith: Refusal.self, file: "here", line: UInt(number))
            }
            let looks = promises.map { look($0.future) }
            try settle(loop)
            promises[0].succeed(1)
            promises[1].fail(.refused)
            promises[2].cancel()
            promises = []
            _ = try loop.run(until: Future.all(looks))
            let broken = FutureError.brokenPromise(file: "here", line: 3)
            #expect(seen.entries.sorted() == ["1", "broken: \(broken)", "cancelled", "refused"])
            try loop.run(until: look(.failed(.tooLate, on: loop)))
            #expect(seen.entries.last == "tooLate")
        }
    }

    @Test(
        "value of a future that cannot fail may still be cancelled or broken, and a switch needs no more",
        arguments: Driver.allCases)
    func never(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            func word(_ future: TypedFuture<Int, Never>) -> Future<String> {
                Future(on: loop) {
                    do throws(FutureFailure<Never>) {
                        return "\(try await future.value)"
                    } catch {
                        switch error {
                        case .cancelled: return "cancelled"
                        case .broken: return "broken"
                        }
                    }
                }
            }
            try expect(word(.succeeded(1, on: loop)), succeedsWith: "1")
            let promise = loop.makePromise(of: Int.self, failingWith: Never.self)
            let cancelled = word(promise.future)
            try settle(loop)
            promise.cancel()
            try expect(cancelled, succeedsWith: "cancelled")
            let broken = { loop.makePromise(of: Int.self, failingWith: Never.self).future }()
            try expect(word(broken), succeedsWith: "broken")
        }
    }

    @Test("a typed failure thrown out of an asynchronous body keeps its meaning", arguments: Driver.allCases)
    func thrown(driver: Driver) async throws {
        try await withLoopOnThread(driver) { loop in
            let cancelled = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            cancelled.cancel()
            expectCancelled(Future(on: loop) { try await cancelled.future.value })
            let refused = Future(on: loop) {
                try await TypedFuture<Int, Refusal>.failed(.refused, on: loop).value
            }
            let error = #expect(throws: FutureFailure<Refusal>.self) { _ = try loop.run(until: refused) }
            #expect("\(error!)" == "refused")
        }
    }
}
