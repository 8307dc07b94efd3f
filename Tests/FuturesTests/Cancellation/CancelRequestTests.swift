import Futures
import Testing

struct CancelRequestTests {
    @Test("a handler that answers cancel cancels all that waits", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("asked")
                return .cancel
            }
            let derived = promise.future.map { $0 }
            #expect(derived.cancel())
            #expect(seen.entries == ["asked"])
            #expect("\(derived)" == "Future(cancelled)")
            #expect("\(promise.future)" == "Future(cancelled)")
            #expect(!promise.succeed(1))
        }
    }

    @Test("a handler that answers complete gives all who wait that outcome", arguments: Driver.allCases)
    func complete(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest { .complete(.success(1)) }
            let derived = promise.future.map { $0 + 1 }
            #expect(derived.cancel())
            #expect(promise.future.isCompleted)
            try expect(derived, succeedsWith: 2)
            let failing = loop.makePromise(of: Int.self)
            failing.onCancelRequest { .complete(.failure(Failure(3))) }
            #expect(failing.future.cancel())
            expect(failing.future, failsWith: Failure(3))
        }
    }

    @Test(
        "a handler that answers continue makes all wait for it, and is not asked again",
        arguments: Driver.allCases)
    func `continue`(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("asked")
                return .continue
            }
            let derived = promise.future.map { $0 + 1 }
            #expect(derived.cancel())
            #expect(derived.cancel())
            #expect(!derived.isCompleted)
            #expect(seen.entries == ["asked"])
            promise.onCancelRequest {
                seen.add("asked later")
                return .continue
            }
            #expect(promise.future.cancel(.evenIfOthersWaiting))
            #expect(derived.cancel())
            #expect(seen.entries == ["asked", "asked later"])
            #expect(promise.succeed(1))
            try expect(derived, succeedsWith: 2)
        }
    }

    @Test("a handler that answers cancel may add somebody who waits before", arguments: Driver.allCases)
    func cancelWithOthers(driver: Driver) throws {
        try withLoop(driver) { loop in
            for depth in 0..<3 {
                let seen = Record()
                let promise = loop.makePromise(of: Int.self)
                var futures = [promise.future]
                for _ in 0..<depth { futures.append(futures.last!.map { $0 }) }
                promise.onCancelRequest {
                    for future in futures.dropLast() { future.whenComplete { seen.add($0) } }
                    return .cancel
                }
                #expect(futures.last!.cancel())
                for future in futures { #expect("\(future)" == "Future(cancelled)", "\(depth)") }
                try settle(loop)
                #expect(seen.entries == Array(repeating: "cancelled", count: depth))
            }
        }
    }

    @Test("a handler is asked only when the last consumer leaves", arguments: Driver.allCases)
    func lastConsumer(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("asked")
                return .cancel
            }
            let (first, second) = (promise.future.map { $0 }, promise.future.map { $0 })
            #expect(first.cancel())
            #expect(seen.entries.isEmpty)
            #expect(second.cancel())
            #expect(seen.entries == ["asked"])
        }
    }

    @Test(
        "all handlers are asked, the first decision counts, and none after the end",
        arguments: Driver.allCases)
    func several(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                seen.add("first")
                return .continue
            }
            promise.onCancelRequest {
                seen.add("second")
                return .complete(.success(1))
            }
            promise.future.cancel()
            #expect(!promise.succeed(2))
            promise.onCancelRequest {
                seen.add("third")
                return .cancel
            }
            #expect(!promise.future.cancel())
            #expect(seen.entries == ["first", "second"])
        }
    }

    @Test(
        "handlers that cancel the next future are nested twenty deep, and the deeper ones run after these",
        arguments: Driver.allCases)
    func depthLimit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0...25).map { _ in loop.makePromise(of: Int.self) }
            var depth = 0
            var depths: [Int] = []
            for (promise, next) in zip(promises, promises.dropFirst()) {
                promise.onCancelRequest {
                    depth += 1
                    depths.append(depth)
                    next.future.cancel()
                    depth -= 1
                    return .cancel
                }
            }
            #expect(promises[0].future.cancel())
            #expect(depths == Array(1...20) + [1, 2, 3, 4, 5])
            #expect(promises.allSatisfy { $0.future.isCancelled })
        }
    }

    @Test("a handler is released when the future completes", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func setHandler(of promise: Promise<Int>) {
                let witness = Witness()
                captured = witness
                promise.onCancelRequest {
                    witness.look()
                    promise.succeed(0)
                    return .cancel
                }
            }
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            setHandler(of: promises[0])
            promises[0].succeed(1)
            #expect(captured == nil)
            setHandler(of: promises[1])
            promises[1].fail(Failure())
            promises[1].future.ignoreFailure()
            #expect(captured == nil)
            setHandler(of: promises[2])
            promises[2].future.cancel()
            #expect(captured == nil)
            setHandler(of: promises[3])
            promises[3].complete(using: loop.succeeded(2))
            #expect(captured == nil)
        }
    }

    @Test("a handler may drop its promise, complete it, or cancel what asks", arguments: Driver.allCases)
    func reentrant(driver: Driver) throws {
        try withLoop(driver) { loop in
            func outcome(_ answer: CancelResponse<Int>, _ act: @escaping (inout Promise<Int>?) -> Void)
                -> String
            {
                var promise: Promise<Int>? = loop.makePromise(of: Int.self, file: "here", line: 1)
                let derived = promise!.future.tapResult { _ in }
                promise!.onCancelRequest {
                    act(&promise)
                    return answer
                }
                #expect(derived.cancel())
                promise?.cancel()
                promise = nil
                let seen = Record()
                derived.whenComplete { seen.add($0) }
                _ = try? settle(loop)
                return seen.entries.joined()
            }
            let broken = "failed: \(FutureError.brokenPromise(file: "here", line: 1))"
            let answers: [CancelResponse<Int>] = [.cancel, .continue, .complete(.success(2))]
            for answer in answers {
                let dropped = outcome(answer) { $0 = nil }
                #expect(dropped == broken || dropped == "cancelled")
                let completed = outcome(answer) { $0!.succeed(1) }
                #expect(completed == "1" || completed == "cancelled")
                let failed = outcome(answer) { $0!.fail(Failure(4)) }
                #expect(failed == "failed: Failure(code: 4)" || failed == "cancelled")
            }
        }
    }

    @Test("a handler may be all that holds its promise", arguments: Driver.allCases)
    func heldByHandler(driver: Driver) throws {
        try withLoop(driver) { loop in
            func future(_ answer: CancelResponse<Int>) -> Future<Int> {
                let promise = loop.makePromise(of: Int.self)
                promise.onCancelRequest {
                    #expect(!promise.future.isCompleted)
                    return answer
                }
                return promise.future.map { $0 + 1 }
            }
            let cancelled = future(.cancel)
            #expect(cancelled.cancel())
            #expect("\(cancelled)" == "Future(cancelled)")
            let completed = future(.complete(.success(1)))
            #expect(completed.cancel())
            try expect(completed, succeedsWith: 2)
        }
    }

    /// What a handler may do to be asked again, were it not for being asked already.
    enum Reentry: CaseIterable {
        case itself, derived, promise, options, other, many, reader
    }

    @Test(
        "a handler that cancels again is called once, whichever way it cancels, and whatever it answers",
        arguments: Driver.allCases, Reentry.allCases)
    func cancelsAgain(driver: Driver, reentry: Reentry) throws {
        try withLoop(driver) { loop in
            for answer: CancelResponse<Int> in [.cancel, .continue, .complete(.success(1))] {
                let (first, second) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
                let derived = first.future.map { $0 + 1 }
                let reader = reentry == .reader ? first.future.map { $0 } : derived
                var calls: [String] = []
                first.onCancelRequest {
                    calls.append("first")
                    #expect(calls.count < 3)
                    switch reentry {
                    case .itself: #expect(first.future.cancel(.evenIfOthersWaiting))
                    case .derived: #expect(derived.cancel())
                    case .promise: #expect(first.cancel())
                    case .options: #expect(first.future.cancel([.evenIfOthersWaiting, .immediately]))
                    case .other: #expect(second.future.cancel())
                    case .many: for _ in 0..<1000 { #expect(derived.cancel()) }
                    case .reader: #expect(reader.cancel())
                    }
                    return answer
                }
                second.onCancelRequest {
                    calls.append("second")
                    #expect(first.future.cancel(.evenIfOthersWaiting))
                    return answer
                }
                #expect(derived.cancel(.evenIfOthersWaiting))
                #expect(calls == (reentry == .other ? ["first", "second"] : ["first"]))
                first.succeed(3)
                second.succeed(3)
                try settle(loop)
                #expect(derived.isCompleted)
            }
        }
    }

    @Test("a request whose handler has completed the promise meanwhile has been followed")
    func completedMeanwhile() throws {
        try withLoop(.virtual) { loop in
            let promise = loop.makePromise(of: Int.self)
            promise.onCancelRequest {
                promise.succeed(1)
                return .cancel
            }
            #expect(promise.future.cancel())
            try expect(promise.future, succeedsWith: 1)
        }
    }

    @Test("what hears at once of a request that came too deep has heard when the first call returns")
    func heardAtOnce() throws {
        try withLoop(.virtual) { loop in
            let promises = (0...CancelOptions.depthLimit).map { _ in loop.makePromise(of: Int.self) }
            var (results, hasHeard) = ([Bool](), false)
            for (promise, next) in zip(promises, promises.dropFirst()) {
                promise.onCancelRequest {
                    results.append(next.future.cancel(.evenIfOthersWaiting))
                    return .continue
                }
            }
            let last = promises[CancelOptions.depthLimit]
            last.onCancelRequest { .cancel }
            last.future.whenCancelled(on: .immediate) { hasHeard = true }
            #expect(promises[0].future.cancel())
            #expect(hasHeard && results == Array(repeating: true, count: CancelOptions.depthLimit))
            for promise in promises { promise.cancel() }
        }
    }
}
