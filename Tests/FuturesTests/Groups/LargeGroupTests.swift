import Futures
import TestSupport
import Testing

/// Groups of very many futures take constant stack, and time in proportion.
struct LargeGroupTests {
    private let count = largeCount

    @Test("all of very many futures, completed last to first", arguments: Driver.allCases)
    func all(driver: Driver) throws {
        let count = count
        try onSmallStack(driver) { loop in
            let promises = (0..<count).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future))
            for index in promises.indices.reversed() { promises[index].succeed(index) }
            let values = try loop.run(until: all)
            #expect(values.elementsEqual(0..<count))
        }
    }

    @Test("the first of very many to fail cancels all others", arguments: Driver.allCases)
    func fails(driver: Driver) throws {
        let count = count
        try onSmallStack(driver) { loop in
            let promises = (0..<count).map { _ in loop.makePromise(of: Int.self) }
            let all = Future.all(promises.map(\.future))
            promises[count / 2].fail(Failure(1))
            expect(all, failsWith: Failure(1))
            let areCompleted = promises.allSatisfy { $0.future.isCompleted }
            #expect(areCompleted)
        }
    }

    @Test("a fold and a search over very many futures", arguments: Driver.allCases)
    func inOrder(driver: Driver) throws {
        let count = count / 2
        try onSmallStack(driver) { loop in
            let futures = (0..<count).map { index in loop.succeeded(index) }
            let sum = Future.fold(futures, 0) { sum, value in loop.succeeded(sum + value) }
            try expect(sum, succeedsWith: count * (count - 1) / 2)
            try expect(Future.find(futures) { $0 == count - 1 }, succeedsWith: count - 1)
        }
    }

    @Test(
        "very many elements, one after another or a hundred at a time", arguments: Driver.allCases, [1, 100])
    func traverse(driver: Driver, limit: Int) throws {
        let count = count
        try onSmallStack(driver) { loop in
            let traversal = loop.traverse(0..<count, maxConcurrent: limit) { loop.succeeded($0) }
            let values = try loop.run(until: traversal)
            #expect(values.elementsEqual(0..<count))
        }
    }

    @Test("very many elements one after another need the memory of one", arguments: Driver.allCases)
    func memory(driver: Driver) throws {
        let count = count
        try onSmallStack(driver) { loop in
            var peak = 0
            let run = loop.forEach(0..<count) { _ in
                peak = max(peak, loop.statistics.futures)
                return loop.succeeded()
            }
            try loop.run(until: run)
            #expect(peak < 10)
        }
    }
}
