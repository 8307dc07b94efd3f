import Futures
import Testing

struct RecoverTests {
    @Test("recover replaces an error and passes a value", arguments: Driver.allCases)
    func recover(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(4), of: Int.self)
            try expect(failed.recover { ($0 as? Failure)?.code ?? 0 }, succeedsWith: 4)
            expect(failed.recover { _ in throw Failure(5) }, failsWith: Failure(5))
            try expect(loop.succeeded(1).recover { _ in 2 }, succeedsWith: 1)
        }
    }

    @Test("flatMapError replaces an error by the outcome of a future", arguments: Driver.allCases)
    func flatMapError(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(4), of: Int.self)
            try expect(failed.flatMapError { _ in loop.succeeded(1) }, succeedsWith: 1)
            try expect(failed.flatMapError { _ in loop.submit { 2 } }, succeedsWith: 2)
            expect(failed.flatMapError { _ in loop.failed(Failure(5)) }, failsWith: Failure(5))
            expect(failed.flatMapError { _ in throw Failure(6) }, failsWith: Failure(6))
            try expect(loop.succeeded(1).flatMapError { _ in loop.succeeded(2) }, succeedsWith: 1)
        }
    }

    @Test("mapError replaces an error by the one it returns or throws", arguments: Driver.allCases)
    func mapError(driver: Driver) throws {
        try withLoop(driver) { loop in
            let failed = loop.failed(Failure(4), of: Int.self)
            expect(failed.mapError { _ in Failure(5) }, failsWith: Failure(5))
            expect(failed.mapError { _ in throw Failure(6) }, failsWith: Failure(6))
            expectCancelled(failed.mapError { _ in CancellationError() })
            try expect(loop.succeeded(1).mapError { _ in Failure(7) }, succeedsWith: 1)
        }
    }

    @Test("cancellation passes error handlers by", arguments: Driver.allCases)
    func cancellationPasses(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            let derived = [
                cancelled.recover { _ in 1 },
                cancelled.flatMapError { _ in loop.succeeded(1) },
                cancelled.mapError { _ in Failure() },
                cancelled.tapError { _ in Issue.record("cancellation is no error") },
            ]
            try settle(loop)
            for future in derived { #expect("\(future)" == "Future(cancelled)") }
        }
    }

    @Test("error handlers see cancellation if they ask for it", arguments: Driver.allCases)
    func cancellationIncluded(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cancelled = loop.failed(CancellationError(), of: Int.self)
            let recovered = cancelled.recover(including: .cancellation) { $0 is CancellationError ? 1 : 0 }
            try expect(recovered, succeedsWith: 1)
            let replaced = cancelled.flatMapError(including: .cancellation) { _ in loop.succeeded(2) }
            try expect(replaced, succeedsWith: 2)
            let mapped = cancelled.mapError(including: .cancellation) { _ in Failure(3) }
            expect(mapped, failsWith: Failure(3))
            let seen = Record()
            let tapped = cancelled.tapError(including: .cancellation) { seen.add(type(of: $0)) }
            expectCancelled(tapped)
            #expect(seen.entries == ["CancellationError"])
        }
    }

    @Test("an error that says it is cancellation cancels", arguments: Driver.allCases)
    func indicatedCancellation(driver: Driver) throws {
        struct Aborted: CancellationIndicating { var isCancellation: Bool }
        try withLoop(driver) { loop in
            #expect("\(loop.failed(Aborted(isCancellation: true), of: Int.self))" == "Future(cancelled)")
            let failed = loop.failed(Aborted(isCancellation: false), of: Int.self).ignoreFailure()
            #expect("\(failed)" == "Future(failure: Aborted(isCancellation: false))")
        }
    }
}
