import Futures
import Testing

struct CompletionTests {
    @Test("each verb takes a completion by a leading dot", arguments: Driver.allCases)
    func leadingDots(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (one, failed) = (loop.succeeded(1), loop.failed(Failure(1), of: Int.self))
            let cancelled: Future<Int> = loop.completed(.cancelled)
            expectCancelled(cancelled)
            let three = [
                loop.completed(.success(3)), loop.completed(.using(one.map { $0 + 2 })),
                loop.completed(.success(3), after: .zero), loop.flatSubmit { .success(3) },
                one.flatMap { .success($0 + 2) }, one.flatMapResult { .success($0.value! + 2) },
                failed.flatMapError { _ in .success(3) },
                cancelled.flatMapError(including: .onlyCancellation) { _ in .success(3) },
                loop.succeeded(3).flatTap { _ in .success(()) },
                loop.succeeded(3).flatAlways { .success(()) },
                loop.succeeded(3).flatTapResult { _ in .using(loop.succeeded()) },
            ]
            for future in three { try expect(future, succeedsWith: 3) }
            try expect(one.flatMapError(including: .onlyCancellation) { _ in .success(3) }, succeedsWith: 1)
            let ended = [
                one.flatMap { $0 > 1 ? .success($0) : .cancelled }, one.flatMapResult { _ in .cancelled },
                failed.flatMapError { _ in .cancelled },
                cancelled.flatMapError(including: .onlyCancellation) { _ in .cancelled },
                one.flatTap { _ in .cancelled },
                one.flatTapResult { _ in .cancelled }, one.flatAlways { .cancelled },
            ]
            for future in ended { expectCancelled(future) }
            expect(one.flatMap { _ -> FutureCompletion<Int> in .failure(Failure(2)) }, failsWith: Failure(2))
            expect(failed.flatTapError { _ in .success(()) }, failsWith: Failure(1))
        }
    }

    @Test("a promise takes a completion by a leading dot", arguments: Driver.allCases)
    func leadingDotsOfPromises(driver: Driver) throws {
        try withLoop(driver) { loop in
            func completed(_ complete: (Promise<Int>) -> Bool) -> Future<Int> {
                let promise = loop.makePromise(of: Int.self)
                #expect(complete(promise))
                #expect(!promise.complete(.cancelled))
                return promise.future
            }
            let two = loop.succeeded(2)
            expectCancelled(completed { $0.complete(.cancelled) })
            expectCancelled(completed { $0.completeIfPending { .cancelled } })
            try expect(completed { $0.complete(.using(two)) }, succeedsWith: 2)
            try expect(completed { $0.complete(.success(2)) }, succeedsWith: 2)
            try expect(completed { $0.completeIfPending { .using(two) } }, succeedsWith: 2)
            expect(completed { $0.complete(.failure(Failure(3))) }, failsWith: Failure(3))
        }
    }
}
