import Dispatch
import Futures
import TestSupport
import Testing

struct RemoteTests {
    @Test("combinators run their closures there, and pass what is not theirs", arguments: Driver.allCases)
    func combinators(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .default)
            let (one, failed) = (loop.succeeded(1), loop.failed(Failure(2), of: Int.self))
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            @Sendable func away<Value>(_ value: Value) -> Value {
                if loop.isCurrent { Issue.record("a closure has run on the loop") }
                return value
            }
            try expect(one.map(on: context) { away($0 + 1) }, succeedsWith: 2)
            expect(one.map(on: context) { _ in throw away(Failure(3)) }, failsWith: Failure(3))
            expect(failed.map(on: context) { $0 }, failsWith: Failure(2))
            expectCancelled(cancelled.map(on: context) { $0 })
            try expect(failed.recover(on: context) { _ in away(4) }, succeedsWith: 4)
            try expect(one.recover(on: context) { _ in 4 }, succeedsWith: 1)
            expectCancelled(cancelled.recover(on: context) { _ in 4 })
            try expect(
                cancelled.recover(including: .cancellation, on: context) { _ in away(5) }, succeedsWith: 5)
            expect(failed.mapError(on: context) { _ in away(Failure(6)) }, failsWith: Failure(6))
            for future in [one, failed, cancelled] {
                let wasSuccess = (try? future.result?.get()) != nil
                try expect(
                    future.mapResult(on: context) { away((try? $0.get()) != nil) }, succeedsWith: wasSuccess)
            }
            try expect(one.tap(on: context) { _ = away($0) }, succeedsWith: 1)
            expect(one.tap(on: context) { _ in throw Failure(7) }, failsWith: Failure(7))
            expect(failed.tapError(on: context) { _ = away($0) }, failsWith: Failure(2))
            let both = #expect(throws: CleanUpError.self) {
                try loop.run(until: failed.tapError(on: context) { _ in throw Failure(8) })
            }
            #expect(both?.cleanUpError as? Failure == Failure(8))
            try expect(one.tapResult(on: context) { _ = away($0) }, succeedsWith: 1)
            expectCancelled(cancelled.tapResult(on: context) { _ = away($0) })
            try expect(one.filter(on: context) { away($0) == 1 }, succeedsWith: 1)
            expect(one.filter(on: context) { away($0) == 2 }, failsWith: FutureError.filtered)
            let isOver = Tally()
            expect(failed.always(on: context) { isOver.add(away(1)) }, failsWith: Failure(2))
            #expect(isOver.sum == 1)
            let promise = loop.makePromise(of: Int.self)
            #expect(promise.future.always(on: context) { isOver.add(away(1)) }.cancel())
            try settle(loop)
            try expect(context.execute(on: loop) { isOver.sum }, succeedsWith: 2)
            let here = RemoteContext.loop(loop)
            try expect(failed.flatMapError(on: here) { _ in loop.succeeded(9) }, succeedsWith: 9)
        }
    }

    @Test(
        "observers run there, in order where the context is serial, and keep run going",
        arguments: Driver.allCases)
    func observers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let context = RemoteContext.serial(on: .default)
            let seen = SharedRecord<String>()
            @Sendable func add(_ entry: String) {
                if loop.isCurrent { Issue.record("an observer has run on the loop") }
                seen.add(entry)
            }
            let futures = [loop.succeeded(1), loop.failed(Failure(2)), loop.failed(CancellationError())]
            for future in futures {
                future.whenComplete(on: context) { result in
                    switch result {
                    case .success(let value): add("complete \(value)")
                    case .failure(let error): add("complete \(error is CancellationError ? "-" : "!")")
                    }
                }
                future.whenSuccess(on: context) { add("success \($0)") }
                future.whenFailure(on: context) { add("failure \(($0 as? Failure)?.code ?? 0)") }
                future.whenCancelled(on: context) { add("cancelled") }
            }
            try loop.run()
            #expect(
                seen.entries == [
                    "complete 1", "success 1", "complete !", "failure 2", "complete -", "cancelled",
                ])
        }
    }

    @Test("flatMap to another loop waits for that one's future", arguments: Driver.allCases)
    func otherLoop(driver: Driver) async throws {
        try await withRunningLoop(driver) { other in
            try onThread {
                try withLoop(driver) { loop in
                    let there = RemoteContext.loop(other, name: "other")
                    let sum = loop.succeeded(1)
                        .flatMap(on: there) { value in other.sleep(for: .ticks(1)).map { value + 1 } }
                        .map(on: there) { value in other.isCurrent ? value : -1 }
                    try expect(sum, succeedsWith: 2)
                    let failed = loop.succeeded(1).flatMap(on: there) { _ -> Future<Int> in throw Failure(3) }
                    expect(failed, failsWith: Failure(3))
                    expect(
                        loop.succeeded(1).flatMap(on: there) { _ in other.failed(Failure(4), of: Int.self) },
                        failsWith: Failure(4))
                    #expect("\(there)" == "other")
                }
            }
        }
    }

    /// How a future of a loop comes to wait for that of another one.
    enum Crossing: String, CaseIterable, Codable {
        case flatMap, flatMapError, complete, completeCancelled

        func start(on loop: EventLoop, _ there: RemoteContext, _ make: @escaping @Sendable () -> Future<Int>)
            -> Future<Int>
        {
            switch self {
            case .flatMap: return loop.succeeded().flatMap(on: there) { _ in make() }
            case .flatMapError: return loop.failed(Failure()).flatMapError(on: there) { _ in make() }
            case .complete, .completeCancelled:
                let promise = loop.makeRemotePromise(of: Int.self)
                if self == .completeCancelled { promise.future.cancel() }
                there.execute(on: loop) { promise.complete(using: make()) }.ignoreFailure()
                return promise.future
            }
        }
    }

    @Test(
        "cancelling a future asks the other loop's future that it waits for to cancel",
        arguments: Driver.allCases, Crossing.allCases)
    func cancelsOtherLoop(driver: Driver, crossing: Crossing) async throws {
        try await withRunningLoop(driver) { other in
            let (started, isCancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try onThread {
                try withLoop(driver) { loop in
                    let there = RemoteContext.loop(other, name: "other")
                    let future = crossing.start(on: loop, there) {
                        let promise = other.makePromise(of: Int.self)
                        promise.onCancelRequest { [promise] in
                            isCancelled.signal()
                            return promise.future.isCompleted ? .continue : .cancel
                        }
                        started.signal()
                        return promise.future.map { $0 }
                    }
                    for _ in 0..<3 { try settle(loop) }
                    started.wait()
                    future.cancel()
                    isCancelled.wait()
                    #expect("\(future)" == "Future(cancelled)")
                }
            }
        }
    }

    @Test("a future of another loop that others wait for goes on", arguments: Driver.allCases)
    func otherLoopGoesOn(driver: Driver) async throws {
        try await withRunningLoop(driver) { other in
            let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try onThread {
                try withLoop(driver) { loop in
                    let promise = loop.makeRemotePromise(of: Int.self)
                    other.execute {
                        let work = other.makeRemotePromise(of: Int.self)
                        work.future.whenSuccess { _ in ended.signal() }
                        promise.complete(using: work.future)
                        promise.onCancelRequest {
                            work.succeed(1)
                            return .cancel
                        }
                        started.signal()
                    }
                    started.wait()
                    promise.future.cancel()
                    ended.wait()
                }
            }
        }
    }
}
