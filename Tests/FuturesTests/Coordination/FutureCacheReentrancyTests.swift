import Futures
import FuturesTesting
import Testing

/// What the deinit of a value does with the cache that drops the value.
enum CacheDeed: String, CaseIterable, CustomTestStringConvertible {
    case look, setSame, setOther, setBoth, removeSame, removeOther, removeAll, fetchSame, fetchOther
    case lowerLimit

    var testDescription: String { rawValue }

    func callAsFunction(_ cache: FutureCache<Int, AnyObject?>, _ key: Int) {
        let other = 10
        switch self {
        case .look: _ = (cache.count, cache.totalCost, cache.value(for: key), cache.value(for: other))
        case .setSame: cache.set(nil, for: key)
        case .setOther: cache.set(nil, for: other)
        case .setBoth: for key in [key, other] { cache.set(nil, for: key) }
        case .removeSame: cache.remove(key)
        case .removeOther: cache.remove(other)
        case .removeAll: cache.removeAll()
        case .fetchSame: fetch(cache, key)
        case .fetchOther: fetch(cache, other)
        case .lowerLimit: cache.costLimit = 1
        }
    }

    private func fetch(_ cache: FutureCache<Int, AnyObject?>, _ key: Int) {
        cache.findOrFetch(key) { cache.loop.succeeded(nil) }.ignoreFailure()
    }
}

/// How a cache comes to drop a value.
enum CacheDrop: String, CaseIterable, CustomTestStringConvertible {
    case set, remove, removeAll, costLimit, eviction, expiry, expiryOnFetch, fetchEviction

    var testDescription: String { rawValue }

    func callAsFunction(_ cache: FutureCache<Int, AnyObject?>, _ loop: EventLoop) throws {
        switch self {
        case .set: cache.set(nil, for: 1)
        case .remove: cache.remove(1)
        case .removeAll: cache.removeAll()
        case .costLimit: cache.costLimit = 1
        case .eviction: cache.set(nil, for: 2, cost: 4)
        case .expiry:
            try pass(.seconds(2), on: loop)
            _ = cache.value(for: 1)
        case .expiryOnFetch:
            try pass(.seconds(2), on: loop)
            _ = try loop.run(until: cache.findOrFetch(1) { loop.succeeded(nil) })
        case .fetchEviction:
            _ = try loop.run(until: cache.findOrFetch(2, cost: { _ in 4 }) { loop.succeeded(nil) })
        }
    }
}

struct FutureCacheReentrancyTests {
    @Test(
        "a cache counts what it finds, whatever the deinit of a value does with it",
        arguments: CacheDrop.allCases, CacheDeed.allCases)
    func counts(drop: CacheDrop, deed: CacheDeed) throws {
        try withLoop(.virtual) { loop in
            let cache = FutureCache<Int, AnyObject?>(costLimit: 4, on: loop)
            var isDropped = false
            cache.set(
                Witness {
                    isDropped = true
                    deed(cache, 1)
                }, for: 1, expiresAfter: .seconds(1))
            cache.set(nil, for: 3)
            try drop(cache, loop)
            try settle(loop)
            #expect(isDropped)
            let found = (0..<20).filter { cache.value(for: $0) != nil }
            #expect(found.count == cache.count)
            #expect(cache.totalCost <= cache.costLimit)
            for key in found { cache.remove(key) }
            #expect(cache.count == 0 && cache.totalCost == 0)
        }
    }
}
