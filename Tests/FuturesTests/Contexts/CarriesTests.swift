import Futures
import FuturesTesting
import TestSupport
import Testing

private enum Local {
    @TaskLocal static var id: String?
    @TaskLocal static var second: String?
    @TaskLocal static var level = 0
    @TaskLocal static var object: Box?
}

private final class Box: Sendable {
    let released: @Sendable () -> Void

    init(released: @escaping @Sendable () -> Void) { self.released = released }

    deinit { released() }
}

/// Where a closure is registered.
enum Registering: CaseIterable {
    case inBody, inClosure, throughContext

    /// Calls `body` on the loop, where `id` is `value`.
    func call(on loop: EventLoop, with value: String?, _ body: @escaping () -> Void) {
        nonisolated(unsafe) let body = body
        Local.$id.withValue(value) {
            switch self {
            case .inBody: Future(on: loop) { unsafe body() }.whenComplete { _ in }
            case .inClosure: loop.later { unsafe body() }
            case .throughContext: RemoteContext.loop(loop).execute(on: loop) { unsafe body() }.ignoreFailure()
            }
        }
    }
}

@Suite("What a loop carries")
struct CarriesTests {
    static let contexts: [LocalContext] = [.loop, .immediate, .nextTurn, .whenIdle]

    @Test("who shuts a loop down, or lets go of it, gives its value to no closure", arguments: [false, true])
    func shutdown(isDropped: Bool) throws {
        let seen = Record()
        do {
            var loop: EventLoop? = .virtual()
            loop?.onUnhandledFailure = { _ in }
            loop?.carries(Local.$id)
            let promise = loop?.makePromise(of: Int.self)
            promise?.future.whenFailure { _ in seen.add(Local.id ?? "nothing") }
            loop?.sleep(for: .seconds(1)).whenFailure { _ in seen.add(Local.id ?? "nothing") }
            Local.$id.withValue("mine") {
                loop?.later { seen.add(Local.id ?? "nothing") }
                if isDropped { loop = nil } else { loop?.shutdown() }
            }
        }
        #expect(seen.entries.sorted() == ["mine", "nothing", "nothing"])
    }

    @Test("what ends a member of a scope, or cleans up, sees the values of its registration")
    func ends() throws {
        try withCarryingLoop { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Void.self)
            let scope = FutureScope(on: loop)
            var kept: Promise<Int>?
            Local.$id.withValue("mine") {
                scope.add(
                    ScopeMembership(
                        ended: promise.future, cancel: { seen.add("cancel \(Local.id ?? "nothing")") },
                        drain: { _ in seen.add("drain \(Local.id ?? "nothing")") },
                        release: { seen.add("release \(Local.id ?? "nothing")") }))
                _ = Future<Int>(on: loop) { promise in
                    kept = promise
                    return Disposer { seen.add("dispose \(Local.id ?? "nothing")") }
                }
            }
            Local.$id.withValue("another") {
                loop.later {
                    scope.drain(within: .seconds(1))
                    kept?.succeed(1)
                }
            }
            try settle(loop)
            Local.$id.withValue("another") { scope.cancel() }
            promise.succeed()
            try loop.run(until: scope.ended)
            #expect(seen.entries.sorted() == ["cancel mine", "dispose mine", "drain mine", "release mine"])
        }
    }

    /// Runs `body` on a loop that carries `id`, and expects that the loop has no value at its end.
    @Test("a closure that sees a value may throw")
    func throwing() throws {
        try withCarryingLoop { loop in
            let task = Local.$id.withValue("mine") {
                loop.repeat(every: .seconds(1)) { () throws -> Future<Void> in
                    throw Failure(Local.id == "mine" ? 1 : 2)
                }
            }
            expect(task.future, failsWith: Failure(1))
        }
    }

    private func withCarryingLoop(_ body: (EventLoop) throws -> Void) throws {
        try withLoop(.virtual) { loop in
            loop.carries(Local.$id)
            try body(loop)
            #expect(try loop.run(until: loop.submit { Local.id }) == nil)
        }
    }

    @Test(
        "each method sees the value of its registration, and the value is gone after it",
        arguments: RegisteringMethod.allCases, Registering.allCases)
    func everyMethod(method: RegisteringMethod, registering: Registering) throws {
        try withCarryingLoop { loop in
            let seen = Record()
            var expected: [String] = []
            for context in Self.contexts {
                for outcome in method.wanted {
                    for value in ["registered", nil] {
                        for isEarly in [true, false] {
                            let promise = loop.makePromise(of: Int.self)
                            promise.future.ignoreFailure()
                            registering.call(on: loop, with: value) {
                                if !isEarly { outcome.complete(promise) }
                                method.register(on: promise.future, context: context) {
                                    seen.add(Local.id ?? "nothing")
                                }?.ignoreFailure()
                                #expect(Local.id == value)
                            }
                            expected.append(value ?? "nothing")
                            try settle(loop)
                            // Completed by code with another value, which must not be seen.
                            if isEarly {
                                Local.$id.withValue("completer") {
                                    loop.later {
                                        outcome.complete(promise)
                                        #expect(Local.id == "completer")
                                    }
                                }
                            }
                            try loop.run(until: loop.submit(on: .whenIdle) { #expect(Local.id == nil) })
                        }
                    }
                }
            }
            #expect(seen.entries == expected)
        }
    }

    @Test("a body sees the same values as closures with the same code do", arguments: ["a", nil])
    func sameAsBody(value: String?) throws {
        try withCarryingLoop { loop in
            let (inBody, inClosures) = (Record(), Record())
            Local.$id.withValue(value) {
                Future(on: loop) {
                    inBody.add(Local.id ?? "nothing")
                    try await loop.sleep(for: .seconds(1)).value
                    inBody.add(Local.id ?? "nothing")
                    let inner = Local.$id.withValue("inner") {
                        Future(on: loop) { inBody.add(Local.id ?? "nothing") }
                    }
                    try await inner.value
                    inBody.add(Local.id ?? "nothing")
                }
                .ignoreFailure()
                loop.submit { inClosures.add(Local.id ?? "nothing") }
                    .flatMap { loop.sleep(for: .seconds(1)) }
                    .flatMap {
                        inClosures.add(Local.id ?? "nothing")
                        return Local.$id.withValue("inner") {
                            loop.submit { inClosures.add(Local.id ?? "nothing") }
                        }
                    }
                    .whenSuccess { inClosures.add(Local.id ?? "nothing") }
            }
            try pass(.seconds(2), on: loop)
            #expect(inBody.entries == inClosures.entries)
            #expect(inBody.entries == [value ?? "nothing", value ?? "nothing", "inner", value ?? "nothing"])
        }
    }

    /// Each other way to give a loop a closure.
    enum Verb: CaseIterable {
        case execute, later, submit, flatSubmit, scheduleAfter, scheduleAt, repeats, repeatsWork, debounce
        case throttle, throttleLater, onCancel, onCancelled, onCancelRequest, onAbandoned, observe, queue
        case semaphore, traverse, forEach, retry, poll, fold, reduce, firstFailure, firstFailureAtEnd
        case typedMap, typedTimeout, within
        case remoteMap, remoteExecute, remoteAfter, remoteWhen, bodyInClosure, deferred, whilePending

        private static let thread = RemoteContext.custom { job in startThread(job) { _ in } }

        func register(on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
            let ready = loop.succeeded(1)
            func work() -> Future<Int> {
                body()
                return loop.succeeded(1)
            }
            switch self {
            case .execute: loop.execute(body)
            case .later: loop.later(body)
            case .submit: loop.submit(body).ignoreFailure()
            case .flatSubmit: loop.flatSubmit(work).ignoreFailure()
            case .scheduleAfter: loop.schedule(after: .seconds(1), body)
            case .scheduleAt: loop.schedule(at: loop.now.advanced(by: .seconds(1)), body)
            case .repeats:
                var runs: ScheduledTask<Void>?
                var count = 0
                runs = loop.repeat(every: .seconds(1)) { () -> Void in
                    count += 1
                    guard count == 3 else { return }
                    body()
                    runs.take()?.cancel()
                }
            case .repeatsWork:
                var runs: ScheduledTask<Void>?
                var count = 0
                runs = loop.repeat(every: .seconds(1)) { () -> Future<Void> in
                    count += 1
                    if count == 3 {
                        body()
                        runs.take()?.cancel()
                    }
                    // Code with another value ends the work.
                    return Local.$id.withValue("elsewhere") { loop.sleep(for: .seconds(1)) }
                }
            case .debounce: loop.debounce(for: .seconds(1), body)()
            case .throttle: loop.throttle(every: .seconds(1), body)()
            case .throttleLater:
                var count = 0
                let call = loop.throttle(every: .seconds(1)) { (_: Int) in
                    count += 1
                    if count == 2 { body() }
                }
                call(1)
                call(2)
            case .onCancel:
                let source = CancellationSource(on: loop)
                source.token.onCancel(on: .immediate, body)
                Local.$id.withValue("elsewhere") { loop.later { source.cancel() } }
            case .onCancelled:
                let source = CancellationSource(on: loop)
                source.token.onCancel(body)
                Local.$id.withValue("elsewhere") { loop.later { source.cancel() } }
            case .onCancelRequest:
                let promise = loop.makePromise(of: Int.self)
                promise.onCancelRequest {
                    body()
                    return .cancel
                }
                Local.$id.withValue("elsewhere") { loop.later { promise.future.cancel() } }
            case .onAbandoned:
                let promise = loop.makePromise(of: Void.self)
                promise.onAbandoned {
                    body()
                    promise.succeed()
                }
            case .observe:
                let source = CancellationSource(on: loop)
                loop.observe(token: source.token) { event in
                    guard case .turnEnded = event, !source.isCancelled else { return }
                    body()
                    source.cancel()
                }
            case .queue:
                let queue = FutureQueue(on: loop)
                Local.$id.withValue("elsewhere") {
                    _ = queue.enqueue { () -> Future<Void> in loop.sleep(for: .seconds(1)) }
                }
                queue.enqueue(work)
            case .semaphore:
                let semaphore = FutureSemaphore(count: 1, on: loop)
                Local.$id.withValue("elsewhere") {
                    semaphore.with { loop.sleep(for: .seconds(1)) }.ignoreFailure()
                }
                semaphore.with { work() }.ignoreFailure()
            case .traverse:
                loop.traverse(0..<3) { index in
                    if index == 2 { body() }
                    return Local.$id.withValue("elsewhere") { loop.sleep(for: .seconds(1)) }
                }
                .ignoreFailure()
            case .forEach:
                loop.forEach(0..<3, maxConcurrent: 1) { index in
                    if index == 2 { body() }
                    return Local.$id.withValue("elsewhere") { loop.sleep(for: .seconds(1)) }
                }
                .ignoreFailure()
            case .retry:
                loop.retry(attempts: 2) { attempt -> Future<Int> in
                    guard attempt == 1 else { return work() }
                    return loop.sleep(for: .seconds(1)).flatMap { loop.failed(Failure(1)) }
                }
                .ignoreFailure()
            case .poll:
                var count = 0
                loop.poll(every: .seconds(1), until: { $0 == 2 }) {
                    count += 1
                    if count == 2 { body() }
                    return loop.succeeded(count)
                }
                .ignoreFailure()
            case .fold:
                let late = loop.sleep(for: .seconds(1)).map { 1 }
                Future.fold([ready, late], 0) { sum, number in
                    if sum == 1 { body() }
                    let later = Local.$id.withValue("elsewhere") { loop.sleep(for: .seconds(1)) }
                    return later.map { sum + number }
                }
                .ignoreFailure()
            case .reduce:
                Future.reduce([loop.sleep(for: .seconds(1)).map { 1 }], into: 0) { sum, number in
                    sum += number
                    body()
                }
                .ignoreFailure()
            case .firstFailure, .firstFailureAtEnd:
                let promise = loop.makePromise(of: Int.self)
                let isFast = self == .firstFailure
                Future.all([promise.future], failFast: isFast, onFirstFailure: { _, _ in body() })
                    .ignoreFailure()
                Local.$id.withValue("elsewhere") { loop.later { promise.fail(Failure(1)) } }
            case .typedMap:
                ready.typed { _ in Failure(1) }.map { (_: Int) throws(Failure) in body() }.ignoreFailure()
            case .typedTimeout:
                loop.sleep(for: .seconds(5)).typed { _ in Failure(1) }.timeout(after: .seconds(1)) {
                    body()
                    return Failure(1)
                }
                .ignoreFailure()
            case .within:
                loop.sleep(for: .seconds(2)).whenComplete(within: .seconds(1), { _ in }, timedOut: body)
            case .remoteMap: ready.map(on: Self.thread) { _ in body() }.ignoreFailure()
            case .remoteExecute: Self.thread.execute(on: loop, body).ignoreFailure()
            case .remoteAfter: Self.thread.execute(after: .seconds(1), on: loop, body)
            case .remoteWhen: ready.whenSuccess(on: Self.thread) { _ in body() }
            case .bodyInClosure: loop.later { Future(on: loop) { body() }.ignoreFailure() }
            case .deferred: Deferred { work() }.start().ignoreFailure()
            case .whilePending:
                loop.sleep(for: .seconds(2))
                    .whilePending(delayBy: .seconds(1)) {
                        body()
                        return Disposer {}
                    }
                    .ignoreFailure()
            }
        }
    }

    @Test(
        "each other way to give a loop a closure keeps the value", arguments: Verb.allCases, ["a", nil])
    func everyVerb(verb: Verb, value: String?) throws {
        try withCarryingLoop { loop in
            let seen = SharedRecord<String>()
            Local.$id.withValue(value) {
                // Within a closure, as most closures are registered.
                loop.later { verb.register(on: loop) { seen.add(Local.id ?? "nothing") } }
            }
            try pass(.seconds(10), on: loop)
            let wasCalled = eventually {
                try? settle(loop)
                return !seen.entries.isEmpty
            }
            #expect(wasCalled)
            #expect(seen.entries == [value ?? "nothing"])
        }
    }

    @Test("another thread's value goes with what it gives to the loop", arguments: ["a", nil])
    func otherThreads(value: String?) async throws {
        try await withRunningLoop(.libuv) { loop in
            try await loop.run { loop.carries(Local.$id) }
            await Local.$id.withValue(value) {
                let (ran, awaited) = (
                    try? await loop.run { Local.id }, try? await loop.run { loop.submit { Local.id } }
                )
                #expect(ran == value && awaited == value)
                let seen = SharedRecord<String?>()
                loop.execute { seen.add(Local.id) }
                #expect(eventually { seen.entries == [value] })
                startThread {
                    Local.$id.withValue(value) { seen.add(try? loop.wait { loop.submit { Local.id } }) }
                } ended: { _ in
                }
                #expect(eventually { seen.entries == [value, value] })
                let promise = loop.makeRemotePromise(of: Int.self)
                promise.onCancelRequest {
                    seen.add(Local.id)
                    return .cancel
                }
                _ = try? await loop.run { Local.$id.withValue("elsewhere") { promise.future.cancel() } }
                #expect(eventually { seen.entries == [value, value, value] })
            }
        }
    }

    @Test("two keys and one that always has a value are carried, each for itself")
    func severalKeys() throws {
        try withCarryingLoop { loop in
            loop.carries(Local.$second)
            loop.carries(Local.$level)
            let seen = Record()
            func look() { seen.add("\(Local.id ?? "-") \(Local.second ?? "-") \(Local.level)") }
            let promise = loop.makePromise(of: Void.self)
            promise.future.whenSuccess(look)
            Local.$id.withValue("a") { promise.future.whenSuccess(look) }
            Local.$second.withValue("b") { promise.future.whenSuccess(look) }
            Local.$level.withValue(1) { promise.future.whenSuccess(on: .immediate, look) }
            Local.$id.withValue("a") {
                Local.$second.withValue("b") {
                    Local.$level.withValue(2) { promise.future.whenSuccess(look) }
                }
            }
            Local.$id.withValue("x") { Local.$level.withValue(7) { _ = promise.succeed() } }
            try settle(loop)
            #expect(seen.entries == ["- - 1", "- - 0", "a - 0", "- b 0", "a b 2"])
        }
    }

    @Test("a task-local that is named twice is taken once, and a loop that carries nothing loses it")
    func namedTwice() throws {
        try withLoop(.virtual) { loop in
            let seen = Record()
            Local.$id.withValue("a") { loop.later { seen.add(Local.id ?? "nothing") } }
            loop.carries(Local.$id)
            loop.carries(Local.$object)
            let box = Box {}
            func references() -> UInt {
                Local.$object.withValue(box) {
                    loop.later {}
                    return _getRetainCount(box)
                }
            }
            let before = references()
            let each = references() - before
            loop.carries(Local.$id)
            loop.carries(Local.$object)
            #expect(references() == before + 2 * each)
            try settle(loop)
            #expect(seen.entries == ["nothing"])
        }
    }

    @Test("whoever runs the loop with a value gives it to no closure")
    func runWithinValue() throws {
        try withCarryingLoop { loop in
            loop.carries(Local.$second)
            let seen = Record()
            loop.later { seen.add(Local.id ?? "nothing") }
            Local.$second.withValue("b") { loop.later { seen.add(Local.second ?? "nothing") } }
            try Local.$id.withValue("a") { try Local.$second.withValue("c") { try settle(loop) } }
            #expect(seen.entries == ["nothing", "b"])
        }
    }

    /// How a closure ends that has been registered with a value.
    enum End: CaseIterable {
        case ran, futureHeld, cancelled, promiseDropped, failed, ranAtOnce, timerCancelled, shutDown
    }

    @Test(
        "whoever runs the loop with a value for one that always has one gives it to no closure",
        arguments: [false, true])
    func runnerWithDefault(isSetBefore: Bool) throws {
        try withLoop(.virtual) { loop in
            Local.$level.withValue(isSetBefore ? 3 : 0) { loop.carries(Local.$level) }
            let seen = Record()
            loop.sleep(for: .seconds(1)).whenComplete { _ in seen.add(Local.level) }
            Local.$level.withValue(4) {
                loop.sleep(for: .seconds(2)).whenComplete { _ in seen.add(Local.level) }
            }
            try Local.$level.withValue(5) {
                try loop.run()
                seen.add(Local.level)
            }
            #expect(seen.entries == ["0", "4", "5"])
        }
    }

    @Test("the value is released when its closure has run or will not run", arguments: End.allCases)
    func release(end: End) throws {
        let released = Tally()
        var held: [Future<Int>] = []
        try withLoop(.virtual) { loop in
            loop.carries(Local.$object)
            var promise: Promise? = loop.makePromise(of: Int.self)
            var timer: ScheduledTask<Void>?
            Local.$object.withValue(Box { released.add() }) {
                if end == .timerCancelled {
                    timer = loop.schedule(after: .seconds(1)) {}
                    return
                }
                let context: LocalContext = end == .ranAtOnce ? .immediate : .loop
                let mapped = promise!.future.map(on: context) { $0 + (Local.object == nil ? 0 : 1) }
                held = [mapped.ignoreFailure()]
            }
            #expect(released.sum == 0)
            switch end {
            case .ran, .futureHeld, .ranAtOnce: promise!.succeed(1)
            case .cancelled: held[0].cancel()
            case .failed: promise!.fail(Failure(1))
            case .timerCancelled: timer!.cancel()
            case .promiseDropped: promise = nil
            case .shutDown: loop.shutdown()
            }
            if end == .ran { held = [] }
            if end != .shutDown { try settle(loop) }
            #expect(released.sum == 1)
            if end == .futureHeld { #expect(try held[0].result?.get() == 2) }
            held = []
            promise?.cancel()
        }
        #expect(released.sum == 1)
    }
}
