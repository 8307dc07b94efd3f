import Futures
import Testing

struct CancelOptionsTests {
    private func stubborn(_ loop: EventLoop) -> Promise<Int> {
        let promise = loop.makePromise(of: Int.self)
        promise.onCancelRequest { .continue }
        return promise
    }

    @Test("a request goes on although others wait, if it says so", arguments: Driver.allCases)
    func evenIfOthersWaiting(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.future.whenComplete { seen.add("first \($0.isCancelled)") }
            let mapped = promise.future.map { $0 }.tapResult { _ in seen.add("a closure of the path") }
            promise.future.whenComplete { seen.add("second \($0.isCancelled)") }
            mapped.whenComplete { seen.add("own \($0.isCancelled)") }
            #expect(!mapped.cancel())
            #expect(mapped.cancel(.evenIfOthersWaiting))
            #expect(promise.future.isCancelled && mapped.isCancelled)
            try settle(loop)
            #expect(seen.entries == ["first true", "second true", "own true"])
        }
    }

    @Test(
        "of the options, one makes a request go on although others wait",
        arguments: [CancelOptions.doNotForward, .immediately, .ifSupported])
    func othersWaiting(options: CancelOptions) throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest { .cancel }
            let mapped = promise.future.map { $0 }
            #expect(!promise.future.cancel(options) && promise.succeed(1))
            try expect(mapped, succeedsWith: 1)
        }
    }

    @Test("siblings keep their order if their producer goes on", arguments: Driver.allCases)
    func siblings(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = stubborn(loop)
            promise.future.whenSuccess { seen.add("first \($0)") }
            let second = promise.future.map { seen.add("second \($0)") }
            promise.future.whenSuccess { seen.add("third \($0)") }
            #expect(second.cancel(.evenIfOthersWaiting))
            promise.succeed(1)
            try expect(second.map { 2 }, succeedsWith: 2)
            #expect(seen.entries == ["first 1", "second 1", "third 1"])
        }
    }

    @Test("a request that is not forwarded only ends the waiting", arguments: Driver.allCases)
    func doNotForward(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                Issue.record("the request was forwarded")
                return .cancel
            }
            let mapped = promise.future.map { $0 }
            let chained = loop.succeeded(0).flatMap { _ in promise.future }
            try settle(loop)
            #expect(mapped.cancel(.doNotForward))
            #expect(chained.cancel(.doNotForward))
            #expect(mapped.isCancelled && chained.isCancelled)
            #expect(promise.succeed(1))
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("a future is cancelled immediately although its producer goes on", arguments: Driver.allCases)
    func immediately(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = stubborn(loop)
            let mapped = promise.future.map { $0 }
            let last = mapped.map { _ in Issue.record("a closure has run") }
            #expect(last.cancel())
            #expect(!last.isCompleted)
            #expect(last.cancel(.immediately))
            #expect(last.isCancelled && !mapped.isCompleted)
            #expect(promise.succeed(1))
            try expect(mapped, succeedsWith: 1)

            let own = stubborn(loop)
            #expect(own.future.cancel(.immediately))
            #expect(own.future.isCancelled)
            #expect(!own.succeed(2))

            let inner = stubborn(loop)
            let outer = loop.succeeded(0).flatMap { _ in inner.future.map { $0 } }
            try settle(loop)
            #expect(outer.cancel(.immediately))
            #expect(outer.isCancelled)
            #expect(inner.succeed(3))
        }
    }

    @Test("detaching only the tail forces it and forwards nothing", arguments: Driver.allCases)
    func detached(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            let mapped = promise.future.map { $0 }
            let tail = mapped.map { $0 }
            #expect(tail.cancel([.doNotForward, .immediately]))
            #expect(tail.isCancelled && !mapped.isCompleted)
            #expect(promise.succeed(1))
            try expect(mapped, succeedsWith: 1)
        }
    }

    @Test("a cooperative request does nothing where nobody answers", arguments: Driver.allCases)
    func ifSupported(driver: Driver) throws {
        try withLoop(driver) { loop in
            let plain = loop.makePromise(of: Int.self)
            let mapped = plain.future.map { $0 }
            #expect(!mapped.isCancellationSupported)
            #expect(!mapped.cancel(.ifSupported))
            #expect(!mapped.isCompleted)
            plain.onCancelRequest { .complete(.success(1)) }
            #expect(mapped.isCancellationSupported)
            #expect(mapped.cancel(.ifSupported))
            #expect(plain.future.isSuccess && !plain.future.isCancellationSupported)
            let pending = loop.makePromise(of: Int.self)
            let limited = pending.future.timeout(after: .seconds(1)).timeout(
                after: .seconds(1), with: .success(2))
            #expect(!limited.isCancellationSupported && !limited.cancel(.ifSupported))
            #expect(limited.cancel() && pending.future.isCancelled)
            let timer = loop.sleep(for: .seconds(1))
            #expect(timer.isCancellationSupported)
            #expect(timer.map { 1 }.cancel(.ifSupported))
            #expect(timer.isCancelled)
            try settle(loop)
        }
    }

    @Test("who waits for others is asked only as far as nobody else waits", arguments: Driver.allCases)
    func supportOfShared(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = stubborn(loop)
            let first = promise.future.map { $0 }
            #expect(first.isCancellationSupported)
            let second = promise.future.map { $0 }
            #expect(!first.isCancellationSupported)
            #expect(!first.cancel(.ifSupported))
            #expect(first.cancel([.ifSupported, .evenIfOthersWaiting]))
            #expect(second.cancel() && first.isCompleted == false)
            #expect(first.cancel())
            promise.succeed(1)
            try settle(loop)
        }
    }

    @Test(
        "all handlers are asked in order, with the options, and the first decision counts",
        arguments: Driver.allCases)
    func handlers(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            for (index, answer) in [CancelResponse<Int>.continue, .complete(.success(2)), .cancel]
                .enumerated()
            {
                promise.onCancelRequest { options in
                    seen.add("\(index) \(options == .evenIfOthersWaiting)")
                    return answer
                }
            }
            #expect(promise.future.cancel(.evenIfOthersWaiting))
            #expect(seen.entries == ["0 true", "1 true", "2 true"])
            try expect(promise.future, succeedsWith: 2)
        }
    }

    @Test("a handler may leave the outcome to another future", arguments: Driver.allCases)
    func handlerCompletesUsing(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (promise, flush) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            promise.onCancelRequest { .complete(.using(flush.future)) }
            let derived = promise.future.map { $0 + 1 }
            #expect(derived.cancel())
            #expect(!promise.succeed(5))
            #expect(!derived.isCompleted)
            flush.succeed(1)
            try expect(derived, succeedsWith: 2)
        }
    }

    @Test("a handle cancels its future when it is released", arguments: Driver.allCases)
    func handle(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            var handle: Disposer? = promise.future.cancelOnDeinit()
            #expect(!promise.future.isCompleted)
            handle = nil
            #expect(promise.future.isCancelled && handle == nil)

            let awaited = loop.makePromise(of: Int.self)
            awaited.future.whenComplete { _ in }
            handle = awaited.future.cancelOnDeinit()
            handle = nil
            #expect(awaited.succeed(1))

            let explicit = loop.makePromise(of: Int.self)
            let token = explicit.future.cancelOnDeinit()
            token.dispose()
            token.dispose()
            #expect(explicit.future.isCancelled)
        }
    }

    @Test("work that waits for its turn is cancelled whoever waits for it", arguments: Driver.allCases)
    func queued(driver: Driver) throws {
        try withLoop(driver) { loop in
            let work = loop.submit { Issue.record("a closure has run") }
            work.whenSuccess { _ in Issue.record("a closure has run") }
            #expect(!work.cancel([.evenIfOthersWaiting, .ifSupported]))
            #expect(work.cancel(.evenIfOthersWaiting))
            expectCancelled(work)
        }
    }

    @Test("a token, or a limit of time, answers nobody's request", arguments: Driver.allCases)
    func unsupported(driver: Driver) throws {
        try withLoop(driver) { loop in
            let source = CancellationSource(on: loop)
            let promise = loop.makePromise(of: Int.self)
            let mapped = promise.future.map(token: source.token) { $0 }
            #expect(!mapped.isCancellationSupported && !mapped.cancel(.ifSupported))
            #expect(mapped.cancel() && promise.future.isCancelled)
            let typed = loop.makePromise(of: Int.self, failingWith: Refusal.self)
            let limited = typed.future.timeout(after: .seconds(1)) { .tooLate }.erased
            #expect(!limited.isCancellationSupported && !limited.cancel(.ifSupported))
            #expect(limited.cancel() && !typed.succeed(1))
            withExtendedLifetime(source) {}
        }
    }
}
