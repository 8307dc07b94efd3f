import Futures
import Testing

struct InOrderTests {
    @Test(
        "sequence fails with the first failure in order, once all before it have succeeded",
        arguments: Driver.allCases)
    func sequence(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<4).map { _ in loop.makePromise(of: Int.self) }
            let sequence = Future.sequence(promises.map(\.future))
            promises[2].fail(Failure(2))
            promises[1].fail(Failure(1))
            try settle(loop)
            #expect(!sequence.isCompleted)
            promises[0].succeed(0)
            expect(sequence, failsWith: Failure(1))
            #expect("\(promises[3].future)" == "Future(cancelled)")
            try expect(
                Future.sequence([loop.submit { 1 }, loop.succeeded(2)]), succeedsWith: [1, 2])
            try expect(Future<Int>.sequence([], on: loop), succeedsWith: [])
            #expect(Future.sequence([loop.sleep(for: .seconds(9))]).map { $0.count }.cancel())
        }
    }

    @Test("reduce takes values in order, each as soon as it can", arguments: Driver.allCases)
    func reduce(driver: Driver) throws {
        try withLoop(driver) { loop in
            let seen = Record()
            let promises = (0..<3).map { _ in loop.makePromise(of: Int.self) }
            let sum = Future.reduce(promises.map(\.future), into: [0]) { total, value in
                seen.add(value)
                total.append(total.last! + value)
            }
            promises[1].succeed(1)
            try settle(loop)
            #expect(seen.entries == [])
            promises[0].succeed(10)
            try settle(loop)
            #expect(seen.entries == ["10", "1"])
            promises[2].succeed(2)
            try expect(sum, succeedsWith: [0, 10, 11, 13])
            try expect(
                Future.reduce([loop.submit { 3 }, loop.submit { 2 }], 20, -), succeedsWith: 15)
            try expect(Future<Int>.reduce([], 7, on: loop, +), succeedsWith: 7)
        }
    }

    @Test("reduce ends with what its closure throws, and cancels the rest", arguments: Driver.allCases)
    func reduceThrows(driver: Driver) throws {
        try withLoop(driver) { loop in
            let rest = loop.makePromise(of: Int.self)
            let sum = Future.reduce([loop.succeeded(1), rest.future], 0) { _, value in throw Failure(value) }
            expect(sum, failsWith: Failure(1))
            #expect("\(rest.future)" == "Future(cancelled)")
        }
    }

    @Test(
        "a reduction that is cancelled from its own closure takes no more values", arguments: Driver.allCases)
    func reentrant(driver: Driver) throws {
        try withLoop(driver) { loop in
            var (sum, taken): (Future<Int>?, Int) = (nil, 0)
            let futures = (0..<3).map { loop.succeeded($0) }
            sum = Future.reduce(futures, 0) { _, value in
                taken += 1
                #expect(sum!.cancel())
                return value
            }
            try settle(loop)
            expectCancelled(sum!)
            #expect(taken == 1)
            sum = nil
        }
    }

    @Test("fold waits for the future of each step before the next", arguments: Driver.allCases)
    func fold(driver: Driver) throws {
        try withLoop(driver) { loop in
            let steps = (0..<2).map { _ in loop.makePromise(of: String.self) }
            var taken: [Int] = []
            let fold = Future.fold([loop.succeeded(0), loop.succeeded(1)], "") { text, value in
                taken.append(value)
                return steps[value].future.map { text + $0 }
            }
            try settle(loop)
            #expect(taken == [0])
            steps[0].succeed("a")
            try settle(loop)
            #expect(taken == [0, 1])
            steps[1].succeed("b")
            try expect(fold, succeedsWith: "ab")
        }
    }

    @Test(
        "fold fails with the next failure in order while later futures are pending",
        arguments: Driver.allCases)
    func foldFails(driver: Driver) throws {
        try withLoop(driver) { loop in
            let later = loop.makePromise(of: Int.self)
            later.future.whenComplete { _ in }
            func fold(_ second: Future<Int>, step: @escaping (Int) throws -> Future<Int>) -> Future<Int> {
                Future.fold([loop.succeeded(1), second, later.future], 0) { try step($0 + $1) }
            }
            expect(fold(loop.failed(Failure(2))) { loop.succeeded($0) }, failsWith: Failure(2))
            expect(fold(loop.succeeded(2)) { throw Failure($0) }, failsWith: Failure(1))
            expect(fold(loop.succeeded(2)) { loop.failed(Failure($0)) }, failsWith: Failure(1))
            #expect(!later.future.isCompleted)
            withExtendedLifetime(later) {}
        }
    }

    @Test("cancelling a fold cancels its inputs and the step in progress", arguments: Driver.allCases)
    func foldCancelled(driver: Driver) throws {
        try withLoop(driver) { loop in
            let (input, step) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let fold = Future.fold([loop.succeeded(1), input.future], 0) { _, _ in step.future }
            try settle(loop)
            #expect(fold.cancel())
            #expect("\(input.future) \(step.future)" == "Future(cancelled) Future(cancelled)")
            var second: Future<Int>?
            let late = loop.makePromise(of: Int.self)
            second = Future.fold([loop.succeeded(1)], 0) { _, _ in
                #expect(second!.cancel())
                return late.future
            }
            try settle(loop)
            expectCancelled(second!)
            #expect("\(late.future)" == "Future(cancelled)")
            second = nil
        }
    }

    @Test(
        "find takes the first in order that fits, not the fastest, and skips failures",
        arguments: Driver.allCases)
    func find(driver: Driver) throws {
        try withLoop(driver) { loop in
            let promises = (0..<5).map { _ in loop.makePromise(of: Int.self) }
            let found = Future.find(promises.map(\.future)) { $0 > 10 }
            promises[3].succeed(33)
            promises[0].fail(Failure(0))
            promises[1].succeed(1)
            try settle(loop)
            #expect(!found.isCompleted)
            promises[2].succeed(22)
            try expect(found, succeedsWith: 22)
            #expect("\(promises[4].future)" == "Future(cancelled)")
        }
    }

    @Test("find gives nil if none fits, and fails with what the predicate throws", arguments: Driver.allCases)
    func findNothing(driver: Driver) throws {
        try withLoop(driver) { loop in
            let futures = [loop.succeeded(1), loop.failed(CancellationError()), loop.failed(Failure(2))]
            try expect(Future.find(futures) { $0 > 1 }, succeedsWith: nil)
            try expect(Future<Int>.find([], on: loop) { _ in true }, succeedsWith: nil)
            expect(Future.find(futures) { throw Failure($0) }, failsWith: Failure(1))
        }
    }

    @Test(
        "a closure that ends the next future of its group is not interrupted by that",
        arguments: Driver.allCases,
        [true, false])
    func endsTheNext(driver: Driver, fails: Bool) throws {
        try withLoop(driver) { loop in
            let (first, second) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let sum = Future.reduce([first.future, second.future], into: 0) { total, value in
                if fails { second.fail(Failure()) } else { second.cancel() }
                total += value
            }
            first.succeed(1)
            if fails { expect(sum, failsWith: Failure()) } else { expectCancelled(sum) }
        }
    }

    @Test("the steps of a fold that are done are not kept")
    func steps() throws {
        try withLoop(.virtual) { loop in
            let last = loop.makePromise(of: Int.self)
            let inputs = Array(repeating: loop.succeeded(1), count: 100) + [last.future]
            let sum = Future.fold(inputs, 0) { total, number in loop.submit { total + number } }
            let before = loop.statistics.futures
            for _ in 0..<300 { try settle(loop) }
            #expect(loop.statistics.futures < before + 10)
            last.succeed(5)
            try expect(sum, succeedsWith: 105)
        }
    }
}
