import Futures
import Testing

struct TraverseTests {
    /// Work whose end the test decides on.
    private final class Works {
        let loop: EventLoop
        var promises: [Int: Promise<Int>] = [:]
        private(set) var started: [Int] = []

        init(_ loop: EventLoop) { self.loop = loop }

        func start(_ number: Int) -> Future<Int> {
            started.append(number)
            let promise = loop.makePromise(of: Int.self)
            promises[number] = promise
            return promise.future
        }

        func end(_ number: Int) throws {
            promises[number]!.succeed(10 * number)
            try settle(loop)
        }
    }

    @Test("traverse starts all at once and keeps the order of the elements", arguments: Driver.allCases)
    func order(driver: Driver) throws {
        try withLoop(driver) { loop in
            let works = Works(loop)
            let future = loop.traverse([1, 2, 3], works.start)
            #expect(works.started == [1, 2, 3])
            for number in [3, 1, 2] { try works.end(number) }
            try expect(future, succeedsWith: [10, 20, 30])
            try expect(loop.traverse([1, nil]) { loop.succeeded($0) }, succeedsWith: [1, nil])
        }
    }

    @Test("traverse of nothing succeeds and does not call its closure", arguments: Driver.allCases)
    func empty(driver: Driver) throws {
        try withLoop(driver) { loop in
            func record(_: Int) -> Future<Int> {
                Issue.record("the body has run")
                return loop.succeeded(1)
            }
            try expect(loop.traverse([], record), succeedsWith: [])
            #expect(try loop.run(until: loop.traverseSettled([], maxConcurrent: 1, record)).isEmpty)
            try loop.run(until: loop.forEach([], record))
            try loop.run(until: loop.repeat(times: 0, record))
            try loop.run(until: loop.repeat(while: { false }) { record(1) })
        }
    }

    @Test("a limit lets so many run at a time, and the next as soon as one ends", arguments: Driver.allCases)
    func limit(driver: Driver) throws {
        try withLoop(driver) { loop in
            let works = Works(loop)
            var pulled = 0
            let elements = (1...4).lazy.map { number in
                pulled = number
                return number
            }
            let future = loop.traverse(elements, maxConcurrent: 2, works.start)
            #expect(works.started == [1, 2] && pulled == 2)
            try works.end(2)
            #expect(works.started == [1, 2, 3] && pulled == 3)
            for number in [1, 4, 3] { try works.end(number) }
            try expect(future, succeedsWith: [10, 20, 30, 40])
        }
    }

    @Test("a limit of one works on one element after another", arguments: Driver.allCases)
    func sequential(driver: Driver) throws {
        try withLoop(driver) { loop in
            var (running, most) = (0, 0)
            let future = loop.traverse(1...5, maxConcurrent: 1) { number in
                running += 1
                most = max(most, running)
                return loop.submit { number }.always { running -= 1 }
            }
            try expect(future, succeedsWith: [1, 2, 3, 4, 5])
            #expect(most == 1)
        }
    }

    @Test(
        "a failure stops the traversal: nothing more is taken, what runs is cancelled",
        arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        try withLoop(driver) { loop in
            let works = Works(loop)
            var pulled = 0
            let elements = (1...9).lazy.map { number in
                pulled = number
                return number
            }
            let future = loop.traverse(elements, maxConcurrent: 3, works.start)
            works.promises[2]!.fail(Failure(2))
            expect(future, failsWith: Failure(2))
            #expect(works.started == [1, 2, 3] && pulled == 3)
            for number in [1, 3] { #expect("\(works.promises[number]!.future)" == "Future(cancelled)") }
            let throwing = loop.traverse([4, 5]) { number in
                if number == 5 { throw Failure(number) }
                return works.start(number)
            }
            expect(throwing, failsWith: Failure(5))
            #expect("\(works.promises[4]!.future)" == "Future(cancelled)")
        }
    }

    @Test("cancelling a traversal reaches what runs, and starts no more", arguments: Driver.allCases)
    func cancel(driver: Driver) throws {
        try withLoop(driver) { loop in
            let works = Works(loop)
            let future = loop.traverse(1...9, maxConcurrent: 2, works.start)
            try works.end(1)
            #expect(future.cancel())
            try settle(loop)
            #expect(works.started == [1, 2, 3])
            for number in [2, 3] { #expect("\(works.promises[number]!.future)" == "Future(cancelled)") }
            let cancelledInput = loop.traverse([1]) { _ in loop.failed(CancellationError(), of: Int.self) }
            expectCancelled(cancelledInput)
        }
    }

    @Test(
        "a body that cancels its own traversal runs no more, and no more is pulled",
        arguments: Driver.allCases)
    func reentrant(driver: Driver) throws {
        try withLoop(driver) { loop in
            let works = Works(loop)
            var pulled: [Int] = []
            let elements = (1...3).lazy.map { number in
                pulled.append(number)
                return number
            }
            var future: Future<Void>?
            future = loop.forEach(elements) { number in
                if number == 2 { #expect(future!.cancel()) }
                return number == 1 ? loop.submit { 1 } : works.start(number)
            }
            try settle(loop)
            expectCancelled(future!)
            #expect(works.started == [2] && pulled == [1, 2])
            #expect("\(works.promises[2]!.future)" == "Future(cancelled)")
            future = nil
        }
    }

    @Test(
        "a body that cancels its own traversal ends it, though there is room for more",
        arguments: Driver.allCases)
    func reentrantWithRoom(driver: Driver) throws {
        try withLoop(driver) { loop in
            var pulled: [Int] = []
            let elements = (1...9).lazy.map { number in
                pulled.append(number)
                return number
            }
            var whole: Future<Void>?
            let failing: Future<Int> = loop.submit { throw Failure(1) }
            whole = loop.traverseSettled(elements, maxConcurrent: 2) { number in
                if number == 3 { #expect(whole!.cancel()) }
                return failing
            }
            .asVoid()
            try settle(loop)
            expectCancelled(whole!)
            #expect(pulled == [1, 2, 3])
            whole = nil
        }
    }

    @Test("traverseSettled goes on after failures and throws, which are outcomes", arguments: Driver.allCases)
    func settled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let future = loop.traverseSettled(1...4, maxConcurrent: 1) { number in
                switch number {
                case 1: return loop.submit { number }
                case 2: throw Failure(number)
                case 3: return loop.failed(CancellationError())
                default: return loop.failed(Failure(number))
                }
            }
            let seen = Record()
            for result in try loop.run(until: future) { seen.add(result) }
            #expect(
                seen.entries == ["1", "failed: Failure(code: 2)", "cancelled", "failed: Failure(code: 4)"])
        }
    }

    @Test(
        "repeat runs so many times, one run after another, and ends with a failure",
        arguments: Driver.allCases)
    func times(driver: Driver) throws {
        try withLoop(driver) { loop in
            var runs: [Int] = []
            try loop.run(
                until: loop.repeat(times: 3) { number in
                    runs.append(number)
                    return loop.submit {}
                })
            #expect(runs == [0, 1, 2])
            let failing = loop.repeat(times: 3) { number in
                loop.submit { if number == 1 { throw Failure(number) } }
            }
            expect(failing, failsWith: Failure(1))
        }
    }

    @Test("repeat while a condition holds asks it before each run", arguments: Driver.allCases)
    func whileDo(driver: Driver) throws {
        try withLoop(driver) { loop in
            var left = 3
            try loop.run(until: loop.repeat(while: { left > 0 }) { loop.submit { left -= 1 } })
            #expect(left == 0)
            expect(
                loop.repeat(while: { throw Failure(1) }) { loop.submit { left -= 1 } }, failsWith: Failure(1))
            expect(
                loop.repeat(while: { true }) { loop.failed(Failure(2), of: Int.self) }, failsWith: Failure(2))
            #expect(left == 0)
        }
    }

    @Test("limits and counts that make no sense are refused", arguments: Driver.allCases)
    func invalid(driver: Driver) throws {
        try withLoop(driver) { loop in
            for limit in [0, -2] {
                expect(
                    loop.traverse([1], maxConcurrent: limit) { loop.succeeded($0) },
                    failsWith: FutureError.invalidArgument(
                        "maxConcurrent must be at least 1, not \(limit)"))
            }
            expect(
                loop.repeat(times: -1) { _ in loop.succeeded() },
                failsWith: FutureError.invalidArgument(
                    "the number of repetitions must be at least 0, not -1"))
        }
    }

    @Test("an endless repetition ends when its loop is shut down", arguments: Driver.allCases)
    func shutdown(driver: Driver) throws {
        try withLoop(driver) { loop in
            let endless = loop.repeat(while: { true }) { loop.succeeded() }
            let seen = Record()
            endless.whenComplete { seen.add($0.map { "ended" }) }
            loop.shutdown()
            #expect(seen.entries == ["failed: \(FutureError.shutDown)"])
        }
    }

    @Test("a traversal releases its closure and elements when it ends", arguments: Driver.allCases)
    func released(driver: Driver) throws {
        try withLoop(driver) { loop in
            weak var captured: Witness?
            func start() -> Future<Void> {
                let witness = Witness()
                captured = witness
                return loop.forEach([witness]) { element in
                    witness.look()
                    return loop.submit { element.look() }
                }
            }
            let future = start()
            try loop.run(until: future)
            #expect(captured == nil)
            #expect(future.isCompleted)
        }
    }
}
