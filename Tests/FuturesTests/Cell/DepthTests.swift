import Futures
import TestSupport
import Testing

/// How long a chain of futures is to be.
let longChain = largeCount

/// Runs `body` with a loop of its own on a thread that has a small stack.
func onSmallStack(_ driver: Driver, _ body: @escaping @Sendable (EventLoop) throws -> Void) throws {
    try onThread(stackSize: smallStack) { try withLoop(driver, body) }
}

/// Nothing recurses along a chain of futures: all of these run on a small stack.
struct DepthTests {
    enum End: CaseIterable {
        case completed, failed, cancelled, dropped
    }

    /// A chain of futures to be ended in one of the ways, and its source.
    private struct Chain {
        var promise: Promise<Int>?
        var last: Future<Int>?

        init(on loop: EventLoop, length: Int, _ extend: (Future<Int>, Int) -> Future<Int>) {
            promise = loop.makePromise()
            last = promise!.future
            for index in 0..<length { last = extend(last!, index) }
        }

        mutating func end(by end: End, value: Int) throws {
            let loop = last!.loop
            switch end {
            case .completed:
                promise!.succeed(0)
                try expect(last!, succeedsWith: value)
            case .failed:
                promise!.fail(Failure(1))
                expect(last!, failsWith: Failure(1))
            case .cancelled:
                #expect(last!.cancel())
                #expect(!promise!.succeed(0))
            case .dropped:
                last!.ignoreFailure()
                last = nil
                promise = nil
                try loop.run()
            }
        }
    }

    @Test("a long chain of maps", arguments: Driver.allCases, End.allCases)
    func maps(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: longChain) { last, _ in last.map { $0 + 1 } }
            try chain.end(by: end, value: longChain)
        }
    }

    @Test("a long chain of flatMaps", arguments: Driver.allCases, End.allCases)
    func flatMaps(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: longChain) { last, index in
                last.flatMap { value in index % 2 == 0 ? loop.succeeded(value + 1) : loop.submit { value + 1 }
                }
            }
            try chain.end(by: end, value: longChain)
        }
    }

    @Test("a long chain on a future that has completed before", arguments: Driver.allCases, End.allCases)
    func ready(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: 1) { _, _ in
                end == .failed ? loop.failed(Failure(1)) : loop.submit { 0 }
            }
            try settle(loop)
            chain.promise!.cancel()
            for _ in 0..<longChain / 2 {
                chain.last = chain.last!.map { $0 + 1 }.flatMap { loop.succeeded($0 + 1) }
            }
            try chain.end(by: end, value: longChain)
        }
    }

    @Test("a long chain of limits and error handlers", arguments: Driver.allCases, End.allCases)
    func limits(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: longChain / 4) { last, index in
                index % 2 == 0 ? last.timeout(after: .seconds(100)) : last.recover { throw $0 }
            }
            try chain.end(by: end, value: 0)
        }
    }

    @Test("a deep nest of groups", arguments: Driver.allCases, End.allCases)
    func groups(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: longChain / 4) { last, index in
                index % 2 == 0 ? Future.race([last]) : Future.all([last]).map { $0[0] }
            }
            try chain.end(by: end, value: 0)
        }
    }

    @Test("a deep recursion with work after each return", arguments: Driver.allCases, End.allCases)
    func recursion(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var chain = Chain(on: loop, length: 1) { innermost, _ in
                func descend(_ depth: Int) -> Future<Int> {
                    depth == 0 ? innermost : loop.submit {}.flatMap { descend(depth - 1) }.map { $0 + 1 }
                }
                return descend(longChain / 4)
            }
            #expect(throws: FutureError.stalled) { try loop.run(until: chain.last!) }
            try chain.end(by: end, value: longChain / 4)
        }
    }

    @Test("a future with very many consumers", arguments: Driver.allCases, End.allCases)
    func consumers(driver: Driver, end: End) throws {
        try onSmallStack(driver) { loop in
            var consumers: [Future<Int>] = []
            var chain = Chain(on: loop, length: 1) { source, _ in
                for _ in 0..<longChain / 10 {
                    consumers.append(source.map { $0 }.recover { throw $0 }.ignoreFailure())
                }
                return consumers.removeLast()
            }
            for consumer in consumers where end == .cancelled { #expect(consumer.cancel()) }
            try chain.end(by: end, value: 0)
        }
    }

    @Test("futures whose clean-up cancels the next", arguments: Driver.allCases, End.allCases)
    func cleanUps(driver: Driver, end: End) throws {
        // Twenty of them may be nested, with what runs them.
        try onThread(stackSize: 4 * smallStack) {
            try withLoop(driver) { loop in
                let promises = (0..<longChain).map { _ in loop.makePromise(of: Int.self) }
                var futures: [Future<Int>] = []
                for promise in promises.reversed() {
                    let next = futures.last
                    futures.append(promise.future.whilePending { Disposer { next?.cancel() } })
                }
                try settle(loop)
                let last = futures.removeLast()
                switch end {
                case .completed: promises[0].succeed(1)
                case .failed: promises[0].fail(Failure())
                case .cancelled, .dropped: last.cancel()
                }
                last.ignoreFailure()
                // Before the call returns.
                let areCompleted = futures.allSatisfy { $0.isCompleted }
                #expect(areCompleted)
            }
        }
    }

    @Test("a long path of links, in either order", arguments: Driver.allCases, [false, true])
    func links(driver: Driver, innermostFirst: Bool) throws {
        try onSmallStack(driver) { loop in
            var promises = (0...longChain).map { _ in loop.makePromise(of: Int.self) }
            let order = Array(0..<longChain)
            for index in innermostFirst ? order.reversed() : order {
                promises[index].complete(using: promises[index + 1].future)
            }
            let (outer, inner) = (promises[0].future, promises[longChain - 1].future)
            promises[longChain].succeed(1)
            promises = []
            try expect(outer, succeedsWith: 1)
            try expect(inner, succeedsWith: 1)
        }
    }

    @Test("a long path of links, of which only the innermost future is held", arguments: Driver.allCases)
    func droppedLinks(driver: Driver) throws {
        try onSmallStack(driver) { loop in
            var promises = (0...longChain).map { _ in loop.makePromise(of: Int.self) }
            for index in (0..<longChain).reversed() {
                promises[index].complete(using: promises[index + 1].future)
            }
            var inner: Future<Int>? = promises[longChain - 1].future
            inner?.ignoreFailure()
            promises = []
            #expect(inner!.isCompleted)
            inner = nil
        }
    }
}
