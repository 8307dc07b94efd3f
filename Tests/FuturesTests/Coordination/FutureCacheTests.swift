import Futures
import FuturesTesting
import Testing

struct FutureCacheTests {
    @Test("a key is fetched once, for all who ask meanwhile and afterwards", arguments: Driver.allCases)
    func once(driver: Driver) throws {
        try withLoop(driver) { loop in
            var fetches = 0
            let cache = FutureCache<String, Int>(on: loop)
            func find(_ key: String) -> Future<Int> {
                cache.findOrFetch(key) {
                    fetches += 1
                    return loop.sleep(for: .ticks(1)).map { key.count }
                }
            }
            let unwanted = find("abc")
            let all = Future.all([find("abc"), find("ab"), find("abc")])
            #expect(unwanted.cancel() && cache.count == 0 && cache.value(for: "abc") == nil)
            try expect(all, succeedsWith: [3, 2, 3])
            try expect(find("abc"), succeedsWith: 3)
            #expect(fetches == 2 && cache.count == 2 && cache.value(for: "ab") == 2)
            #expect(cache.totalCost == 2)
            cache.set(7, for: "ab")
            try expect(find("ab"), succeedsWith: 7)
            cache.remove("ab")
            try expect(find("ab"), succeedsWith: 2)
            cache.removeAll()
            #expect(cache.count == 0 && cache.totalCost == 0)
        }
    }

    @Test(
        "a fetch that fails, throws or is cancelled leaves nothing, even if it does so at once",
        arguments: Driver.allCases)
    func failure(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cache = FutureCache<Int, Int>(on: loop)
            expect(cache.findOrFetch(1) { throw Failure(1) }, failsWith: Failure(1))
            expect(cache.findOrFetch(1) { loop.failed(Failure(2)) }, failsWith: Failure(2))
            expect(
                cache.findOrFetch(1) { loop.sleep(for: .ticks(1)).map { throw Failure(3) } },
                failsWith: Failure(3))
            let work = loop.makePromise(of: Int.self)
            let only = cache.findOrFetch(1) { work.future }
            #expect(only.cancel() && work.future.isCompleted)
            try expect(cache.findOrFetch(1) { loop.succeeded(5) }, succeedsWith: 5)
        }
    }

    @Test(
        "the end of an old fetch does not touch a newer entry of its key", arguments: Driver.allCases,
        [true, false])
    func identity(driver: Driver, succeeds: Bool) throws {
        try withLoop(driver) { loop in
            let cache = FutureCache<Int, Int>(on: loop)
            let (old, other) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            let first = cache.findOrFetch(1) { old.future }
            cache.remove(1)
            let second = cache.findOrFetch(1) { other.future }
            if succeeds { old.succeed(1) } else { old.fail(Failure(1)) }
            try settle(loop)
            #expect(first.isCompleted && !second.isCompleted && cache.count == 0)
            first.ignoreFailure()
            let third = cache.findOrFetch(1) { loop.succeeded(9) }
            other.succeed(2)
            try expect(Future.all([second, third]), succeedsWith: [2, 2])
            #expect(cache.value(for: 1) == 2)
            let late = loop.makePromise(of: Int.self)
            let fourth = cache.findOrFetch(2) { late.future }
            cache.set(3, for: 2)
            late.succeed(4)
            try expect(fourth, succeedsWith: 4)
            #expect(cache.value(for: 2) == 3 && cache.count == 2)
        }
    }

    @Test("a value expires by the loop's clock, when it is looked for")
    func expiry() throws {
        try withLoop(.virtual) { loop in
            var fetches = 0
            let cache = FutureCache<Int, Int>(on: loop)
            func find() -> Future<Int> {
                cache.findOrFetch(1, expiresAfter: .seconds(10)) {
                    fetches += 1
                    return loop.sleep(for: .seconds(60)).map { fetches }
                }
            }
            try expect(find(), succeedsWith: 1)
            loop.advance(by: .milliseconds(9_999))
            try expect(find(), succeedsWith: 1)
            loop.advance(by: .milliseconds(1))
            #expect(cache.count == 1)
            try expect(find(), succeedsWith: 2)
            cache.set(7, for: 2, expiresAfter: .seconds(1))
            #expect(cache.value(for: 2) == 7)
            loop.advance(by: .seconds(1))
            #expect(cache.value(for: 2) == nil && cache.count == 1)
            let refused = cache.findOrFetch(3, expiresAfter: .seconds(-1)) { loop.succeeded(1) }
            expect(
                refused,
                failsWith: FutureError.invalidArgument(
                    "a delay of -1.0 seconds is negative; give zero or more"))
        }
    }

    @Test("above the limit of costs those go that were used longest ago", arguments: Driver.allCases)
    func costs(driver: Driver) throws {
        try withLoop(driver) { loop in
            let cache = FutureCache<Int, Int>(costLimit: 10, on: loop)
            func fetch(_ key: Int, cost: Int) -> Future<Int> {
                cache.findOrFetch(key, cost: { $0 }) { loop.succeeded(cost) }
            }
            _ = try loop.run(until: Future.all([fetch(1, cost: 4), fetch(2, cost: 4)]))
            #expect(cache.value(for: 1) == 4 && cache.totalCost == 8)
            try expect(fetch(3, cost: 3), succeedsWith: 3)
            #expect(cache.value(for: 2) == nil && cache.count == 2 && cache.totalCost == 7)
            try expect(fetch(4, cost: 11), succeedsWith: 11)
            #expect(cache.value(for: 4) == nil && cache.count == 2)
            cache.set(0, for: 1, cost: .max)
            #expect(cache.value(for: 1) == nil && cache.totalCost == 3)
            cache.costLimit = 2
            #expect(cache.count == 0 && cache.totalCost == 0)
            expect(
                fetch(5, cost: -1),
                failsWith: FutureError.invalidArgument("a cost of -1 is negative; give zero or more"))
            #expect(cache.count == 0)
        }
    }

    @Test("values of exactly the limit of costs are kept, and with a limit of zero what costs nothing")
    func costsAtTheLimit() throws {
        try withLoop(.virtual) { loop in
            let cache = FutureCache<Int, Int>(costLimit: 10, on: loop)
            cache.set(1, for: 1, cost: 6)
            cache.set(2, for: 2, cost: 4)
            #expect(cache.count == 2 && cache.totalCost == 10)
            cache.set(3, for: 3, cost: 10)
            #expect(cache.count == 1 && cache.value(for: 3) == 3)
            let free = FutureCache<Int, Int>(costLimit: 0, on: loop)
            free.set(1, for: 1, cost: 0)
            free.set(2, for: 2)
            #expect(free.value(for: 1) == 1 && free.count == 1)
            try expect(free.findOrFetch(3, cost: { _ in 0 }) { loop.succeeded(3) }, succeedsWith: 3)
            #expect(free.count == 2 && free.totalCost == 0)
        }
    }

    @Test("a fetch can answer a request to cancel if its work can")
    func supportsCancellation() throws {
        try withLoop(.virtual) { loop in
            let cache = FutureCache<Int, Int>(on: loop)
            let (deaf, willing) = (loop.makePromise(of: Int.self), loop.makePromise(of: Int.self))
            willing.onCancelRequest { .cancel }
            #expect(!cache.findOrFetch(1) { deaf.future }.isCancellationSupported)
            #expect(cache.findOrFetch(2) { willing.future }.isCancellationSupported)
        }
    }

    @Test(
        "values are released with the cache, or when they go; an unfinished fetch goes on",
        arguments: Driver.allCases)
    func lifetime(driver: Driver) throws {
        try withLoop(driver) { loop in
            var released = 0
            var cache: FutureCache<Int, Witness>? = FutureCache(costLimit: 2, on: loop)
            // A value that uses the cache when it goes: the one that drives it out has its place then.
            cache!.set(Witness { [weak cache] in released += cache?.count ?? 100 }, for: 1)
            for key in 2...4 { cache!.set(Witness { released += 1000 }, for: key) }
            #expect(released == 1_002)
            let work = loop.makePromise(of: Witness.self)
            let caller = cache!.findOrFetch(9) { work.future }
            cache = nil
            #expect(released == 3_002)
            work.succeed(Witness { released += 1 })
            try loop.run(until: caller.map { $0.look() })
        }
    }
}
