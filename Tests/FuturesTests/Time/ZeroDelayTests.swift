import Futures
import FuturesTesting
import TestSupport
import Testing

/// The ways to let no time go by, each as a future that completes when the callback after it runs.
enum ZeroDelay: String, CaseIterable, Codable, CustomTestStringConvertible {
    case sleep, sleepWithToken, scheduleAfter, scheduleAt, scheduleInThePast, scheduleOnContext
    case delay, delayByClosure, succeededAfter, failedAfter, completedAfter
    case failAfter, cancelAfter, timeout, timeoutWithReplacement, whenCompleteWithin, typedTimeout
    case debounce, debounceOfNothing, disposeAfter, whilePending
    case retry, repeatOnError, repeatOnResult, repeatEveryNanosecond, repeatAtRate, pollEveryNanosecond, tick
    case deferredDelay, deferredTimeout

    var testDescription: String { rawValue }

    /// An interval has to be positive. Virtual time does not pass while something is ready.
    private var isNanosecond: Bool {
        switch self {
        case .repeatEveryNanosecond, .repeatAtRate, .pollEveryNanosecond, .tick: true
        default: false
        }
    }

    static let zeros = allCases.filter { !$0.isNanosecond }
    static let nanoseconds = allCases.filter(\.isNanosecond)

    func wait(on loop: EventLoop) -> Future<Void> {
        lazy var pending = loop.makePromise(of: Int.self)
        lazy var promise = loop.makePromise(of: Void.self)
        switch self {
        case .sleep: return loop.sleep(for: .zero)
        case .sleepWithToken: return loop.sleep(for: .zero, token: CancellationSource(on: loop).token)
        case .scheduleAfter: return loop.schedule(after: .zero) {}.future
        case .scheduleAt: return loop.schedule(at: loop.now) {}.future
        case .scheduleInThePast: return loop.schedule(at: loop.now.advanced(by: .seconds(-5))) {}.future
        case .scheduleOnContext: return loop.schedule(after: .zero, on: .immediate) {}.future
        case .delay: return loop.succeeded().delay(by: .zero)
        case .delayByClosure: return loop.succeeded().delay { _ in .zero }
        case .succeededAfter: return loop.succeeded(1, after: .zero).asVoid()
        case .failedAfter: return loop.completed(.failure(Failure()), after: .zero).recover { _ in }
        case .completedAfter: return loop.completed(FutureCompletion.success(()), after: .zero)
        case .failAfter:
            promise.fail(after: .zero)
            return promise.future.recover { [promise] _ in withExtendedLifetime(promise) {} }
        case .cancelAfter:
            promise.fail(after: .zero, with: CancellationError())
            return promise.future.recover(including: .onlyCancellation) { [promise] _ in
                withExtendedLifetime(promise) {}
            }
        case .timeout: return keeping(pending) { $0.timeout(after: .zero) }
        case .timeoutWithReplacement: return keeping(pending) { $0.timeout(after: .zero, with: .success(1)) }
        case .whenCompleteWithin:
            pending.future.whenComplete(within: .zero) { _ in
            } timedOut: {
                promise.succeed(())
            }
            return keeping(pending) { _ in promise.future.map { 0 } }
        case .typedTimeout:
            let typed = loop.makePromise(of: Void.self, failingWith: Failure.self)
            return typed.future.timeout(after: .zero) { Failure() }.erased
                .recover { [typed] _ in withExtendedLifetime(typed) {} }
        case .debounce:
            let call = loop.debounce(for: .zero) { (_: Int) in promise.succeed(()) }
            call(1)
            return promise.future
        case .debounceOfNothing:
            let call = loop.debounce(for: .zero) { () in promise.succeed(()) }
            call()
            return promise.future
        case .disposeAfter:
            Disposer { promise.succeed(()) }.dispose(after: .zero, on: loop)
            return promise.future
        case .whilePending:
            return keeping(pending) { future in
                future.whilePending(delayBy: .zero) {
                    promise.succeed(())
                    return Disposer()
                }.ignoreFailure()
                return promise.future.map { 0 }
            }
        case .retry:
            return loop.retry(attempts: 2, backoff: .constant(.zero)) { attempt in
                attempt == 1 ? loop.failed(Failure()) : loop.succeeded()
            }
        case .repeatOnError:
            var runs = 0
            return Deferred<Void> { () throws -> Future<Void> in
                runs += 1
                return runs == 1 ? loop.failed(Failure()) : loop.succeeded()
            }.onErrorRepeat(delay: .zero).start(on: loop)
        case .repeatOnResult:
            var runs = 0
            return Deferred<Void> { () throws -> Future<Void> in
                runs += 1
                return loop.succeeded()
            }.onResultRepeat(delay: .zero, when: { _ in runs < 2 }).start(on: loop)
        case .repeatEveryNanosecond, .repeatAtRate:
            let task = loop.repeat(
                every: .nanoseconds(1), pace: self == .repeatAtRate ? .fixedRate : .fixedDelay
            ) { () throws -> Void in
                promise.succeed(())
                throw CancellationError()
            }
            return promise.future.always { task.cancel() }
        case .pollEveryNanosecond:
            var runs = 0
            return loop.poll(every: .nanoseconds(1), until: { $0 == 2 }) { () throws -> Future<Int> in
                runs += 1
                return loop.succeeded(runs)
            }.asVoid()
        case .tick: return loop.ticks(every: .nanoseconds(1)).first().asVoid()
        case .deferredDelay:
            return Deferred<Void> { () throws -> Future<Void> in loop.succeeded() }
                .transform { $0.delay(by: .zero) }.start(on: loop)
        case .deferredTimeout:
            return keeping(pending) { future in
                Deferred<Int> { () throws -> Future<Int> in future }.transform { $0.timeout(after: .zero) }
                    .start(on: loop)
            }
        }
    }

    /// What becomes of a future that nothing completes.
    private func keeping(_ promise: Promise<Int>, _ end: (Future<Int>) -> Future<Int>) -> Future<Void> {
        end(promise.future).mapResult { [promise] _ in withExtendedLifetime(promise) {} }
    }
}

struct ZeroDelayTests {
    /// How many times the loop has looked for I/O while twenty delays followed one another.
    private func rounds(of delay: ZeroDelay, on driver: Driver) throws -> Int {
        var rounds = 0
        try withLoop(driver) { loop in
            var left = 20
            func wait() -> Future<Void> {
                left -= 1
                return left < 0 ? loop.succeeded() : delay.wait(on: loop).flatMap(wait)
            }
            func count() {
                guard left >= 0 else { return }
                rounds += 1
                loop.submit(on: .nextTurn, count).whenComplete { _ in }
            }
            // From within a turn, and not from the call that runs it.
            let end = loop.submit {}.flatMap {
                count()
                return wait()
            }
            try loop.run(until: end)
        }
        return rounds
    }

    @Test("a delay of nothing is the next turn, on every loop alike", arguments: ZeroDelay.zeros)
    func nextTurn(delay: ZeroDelay) throws {
        let virtual = try rounds(of: delay, on: .virtual)
        #expect((19...42).contains(virtual))
        #expect(try rounds(of: delay, on: .libuv) == virtual)
    }

    @Test("a nanosecond on a real loop is the next turn, too", arguments: ZeroDelay.nanoseconds)
    func nanosecond(delay: ZeroDelay) throws {
        #expect((19...42).contains(try rounds(of: delay, on: .libuv)))
    }

    @Test(
        "a delay of nothing that is set outside of the loop is over in the first turn",
        arguments: Driver.allCases, ZeroDelay.zeros)
    func outside(driver: Driver, delay: ZeroDelay) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            delay.wait(on: loop).whenComplete { _ in seen.add("delay") }
            func turn(_ left: Int) {
                loop.submit(on: .nextTurn) {
                    if left > 0 { turn(left - 1) } else { seen.add("turns") }
                }.whenComplete { _ in }
            }
            turn(4)
            try loop.run()
            #expect(seen.entries == ["delay", "turns"])
        }
    }

    @Test(
        "what is ready runs before a delay of nothing, and what is due before what is set later",
        arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            try pass(.ticks(1), on: loop)
            let seen = Record()
            loop.submit {
                loop.schedule(after: .zero) {
                    seen.add("first")
                    loop.schedule(after: .zero) { seen.add("third") }
                }
                loop.submit(on: .nextTurn) { seen.add("next turn") }.whenComplete { _ in }
                loop.schedule(at: loop.now.advanced(by: .seconds(-1))) { seen.add("past") }
                loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
                loop.schedule(after: .zero) { seen.add("second") }
                loop.submit { seen.add("ready") }.whenComplete { _ in }
            }.whenComplete { _ in }
            try loop.run()
            #expect(seen.entries == ["ready", "past", "first", "second", "next turn", "third", "idle"])
        }
    }

    @Test("both kinds of loop have one order", arguments: [0, 1, 2])
    func sameOrder(start: Int) throws {
        var orders: [[String]] = []
        for driver in Driver.allCases {
            try withLoop(driver) { loop in
                let seen = Record()
                func delays(_ left: Int) {
                    seen.add("delay \(left)")
                    if left > 0 { loop.schedule(after: .zero) { delays(left - 1) } }
                }
                func turns(_ left: Int) {
                    seen.add("turn \(left)")
                    if left > 0 { loop.submit(on: .nextTurn) { turns(left - 1) }.whenComplete { _ in } }
                }
                func idle(_ left: Int) {
                    seen.add("idle \(left)")
                    if left > 0 { loop.submit(on: .whenIdle) { idle(left - 1) }.whenComplete { _ in } }
                }
                let starts = [{ delays(5) }, { turns(5) }, { idle(5) }]
                loop.submit { for index in 0..<3 { starts[(start + index) % 3]() } }.whenComplete { _ in }
                try loop.run()
                orders.append(seen.entries)
            }
        }
        #expect(orders[0] == orders[1])
    }

    /// A callback that takes so long.
    private func spend(_ duration: Duration, on loop: EventLoop, _ driver: Driver) {
        switch driver {
        case .virtual: loop.advanceWithoutRunning(by: duration)
        case .libuv:
            let start = loop.now
            while start.duration(to: loop.now) < duration {}
        }
    }

    @Test("an idle callback does not run before a timer that is overdue", arguments: Driver.allCases)
    func overdue(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            loop.schedule(after: .zero) {
                loop.schedule(after: .milliseconds(5)) { seen.add("timer") }
                loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
                spend(.milliseconds(20), on: loop, driver)
            }
            try loop.run()
            #expect(seen.entries == ["timer", "idle"])
        }
    }

    @Test(
        "an idle callback does not run before a timer that is overdue by less than a millisecond",
        arguments: Driver.allCases)
    func hardlyOverdue(driver: Driver) throws {
        try withLoop(driver) { loop in
            // On a real clock the millisecond may be over before the loop looks.
            for _ in 0..<20 {
                let seen = Record()
                let due = loop.now.advanced(by: .milliseconds(5))
                loop.schedule(at: due) { seen.add("timer") }
                // In a turn of its own, after the timer has been set.
                loop.submit(on: .nextTurn) {
                    loop.submit(on: .whenIdle) { seen.add("idle") }.whenComplete { _ in }
                    loop.submit(on: .nextTurn) {
                        spend(loop.now.duration(to: due) + .microseconds(1), on: loop, driver)
                    }.whenComplete { _ in }
                }.whenComplete { _ in }
                try loop.run()
                #expect(seen.entries == ["timer", "idle"])
            }
        }
    }

    @Test("delays of nothing that go on for ever starve no other thread", arguments: Driver.allCases)
    func starvesNobody(driver: Driver) throws {
        try withLoop(driver) { loop in
            let isOver = SharedRecord<Bool>()
            let task = loop.repeat(every: .nanoseconds(1)) {}
            func again() -> Future<Void> {
                isOver.entries.isEmpty ? loop.sleep(for: .zero).flatMap(again) : loop.succeeded()
            }
            let endless = again()
            try onThread { _ = loop.execute { isOver.add(true) } }
            try loop.run(until: endless)
            task.cancel()
        }
    }

    @Test(
        "delays of nothing that keep no loop alive do not keep it from returning", arguments: Driver.allCases)
    func notKeepingAlive(driver: Driver) throws {
        try withLoop(driver) { loop in
            var isOver = false
            var runs = 0
            func again() {
                runs += 1
                if !isOver { loop.schedule(after: .zero, keepsLoopAlive: false, again) }
            }
            again()
            try loop.run()
            #expect(runs <= 3)
            // They go on while something else keeps it alive.
            let before = runs
            try loop.run(until: loop.sleep(for: .zero).flatMap { loop.sleep(for: .zero) })
            #expect(runs > before)
            isOver = true
            try pass(.ticks(1), on: loop)
        }
    }

    @Test("a delay of nothing can be cancelled until it is over", arguments: Driver.allCases)
    func cancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let end = loop.submit {
                let task = loop.schedule(after: .zero) { seen.add("run") }
                loop.submit(on: .nextTurn) { seen.add("\(task.cancel())") }.whenComplete { _ in }
            }
            try loop.run(until: end)
            try loop.run()
            #expect(seen.entries == ["run", "false"] || seen.entries == ["true"])
            let task = loop.schedule(after: .zero) { seen.add("late") }
            #expect(task.cancel())
            try loop.run()
            #expect(!seen.entries.contains("late"))
        }
    }
}
