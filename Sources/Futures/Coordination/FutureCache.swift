/// A cache that keeps one value for each key. If several callers ask for the same key at the same time, they
/// share one fetch.
///
/// The cache keeps values only: a fetch that fails or is cancelled leaves no entry. The cache drops an
/// expired value when the key of that value is looked up next. If the total cost exceeds ``costLimit``, the
/// cache first drops the values that have not been used for the longest time. The cache never keeps a single
/// value that costs more than the limit.
///
/// A key's `==` and `hash(into:)` must not use the cache.
public final class FutureCache<Key: Hashable, Value> {
    public let loop: EventLoop
    /// The highest allowed ``totalCost``. Setting a lower limit drops values at once.
    /// Traps if it is negative.
    public var costLimit: Int {
        didSet {
            Self.check(costLimit)
            evict(downTo: costLimit)
        }
    }
    /// The sum of the costs of all values in the cache.
    public private(set) var totalCost = 0
    private var entries: [Key: CacheEntry<Key, Value>] = [:]
    /// The entries with a value, in the order of their last use.
    private var used = Line<CacheEntry<Key, Value>>()

    /// Creates an empty cache. Traps if `costLimit` is negative.
    public init(costLimit: Int = .max, on loop: EventLoop) {
        loop.core.checkThread()
        Self.check(costLimit)
        self.costLimit = costLimit
        self.loop = loop.core
    }

    private static func check(_ costLimit: Int) {
        if costLimit < 0 { Misuse.size(costLimit, of: "A cache's cost limit", atLeast: 0) }
    }

    /// The number of values. An expired value counts until the key of that value is looked up.
    public var count: Int { used.count }

    /// Completes with the value for `key`. If the cache has no value for `key`, waits for the fetch that is
    /// in progress for `key`. If no fetch is in progress, calls `fetch`, and completes with the outcome of
    /// the future that `fetch` returns.
    ///
    /// When no caller waits for a fetch any more, the fetch is asked to cancel. The value expires when
    /// `expiresAfter` has passed since the end of the fetch. If `expiresAfter` is `nil`, the value never
    /// expires. The cache calls `cost` once for each fetched value. If `cost` returns a negative number, or
    /// `expiresAfter` is negative, the returned future fails with ``FutureError/invalidArgument(_:)``.
    ///
    /// ```swift
    /// let cache = FutureCache<String, Data>(costLimit: 1_000_000, on: loop)
    /// let page = cache.findOrFetch("page", expiresAfter: .seconds(60), cost: { $0.count }) { fetch("page") }
    /// ```
    public func findOrFetch(
        _ key: Key, expiresAfter: Duration? = nil, cost: @escaping (Value) -> Int = { _ in 1 },
        token: CancellationToken = .none, _ fetch: @escaping () throws -> Future<Value>
    ) -> Future<Value> {
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        if let complaint = FutureError.complaint(delay: expiresAfter) { return loop.failed(complaint) }
        loop.core.checkThread()
        let former = entries[key]
        // Released last: the deinit of a value may use the cache.
        defer { withExtendedLifetime(former) {} }
        if let former, let value = value(of: former) { return loop.succeeded(value) }
        if let work = former?.work { return work.future.branch().until(token) }
        let entry = CacheEntry<Key, Value>(key)
        let work = SharedWork<Value>(on: loop) { [weak self] work in
            entry.work = nil
            self?.fetched(entry, work.future.result, expiresAfter)
        }
        entry.work = work
        entries[key] = entry
        work.run {
            try fetch().tap { value in
                entry.cost = cost(value)
                if let complaint = entry.complaint { throw FutureError.invalidArgument(complaint) }
            }
        }
        return work.future.branch().until(token)
    }

    /// Returns the value for `key`, or `nil` if the cache has no value for `key` or the value has expired. A
    /// look-up counts as a use of the value.
    public func value(for key: Key) -> Value? {
        loop.core.checkThread()
        return entries[key].flatMap(value(of:))
    }

    private func value(of entry: CacheEntry<Key, Value>) -> Value? {
        guard let value = entry.value else { return nil }
        if let expiry = entry.expiry, loop.now >= expiry {
            remove(entry)
            return nil
        }
        used.remove(entry)
        used.append(entry)
        return value
    }

    /// Keeps `value` for `key`, in place of an earlier value. If a fetch for `key` is in progress, the cache
    /// does not keep the value of that fetch. `value` expires when `expiresAfter` has passed, and never if
    /// `expiresAfter` is `nil`. Traps if `cost` or `expiresAfter` is negative.
    public func set(_ value: Value, for key: Key, expiresAfter: Duration? = nil, cost: Int = 1) {
        loop.core.checkThread()
        let entry = CacheEntry<Key, Value>(key)
        entry.cost = cost
        if let complaint = entry.complaint { Misuse.sentence(complaint) }
        if let complaint = FutureError.complaint(delay: expiresAfter) { Misuse.sentence("\(complaint)") }
        let former = entries[key]
        if let former { remove(former) }
        entries[key] = entry
        keep(value, in: entry, expiresAfter)
        withExtendedLifetime(former) {}
    }

    /// Drops the value for `key`. If a fetch for `key` is in progress, the fetch continues for its callers,
    /// but the cache does not keep the fetched value.
    public func remove(_ key: Key) {
        loop.core.checkThread()
        if let entry = entries[key] { remove(entry) }
    }

    /// Drops all values. Fetches that are in progress continue for their callers, but the cache does not keep
    /// the fetched values.
    public func removeAll() {
        loop.core.checkThread()
        let dropped = exchange(&entries, with: [:])
        _ = used.takeAll()
        totalCost = 0
        withExtendedLifetime(dropped) {}
    }

    private func fetched(
        _ entry: CacheEntry<Key, Value>, _ result: Result<Value, any Error>?, _ expiresAfter: Duration?
    ) {
        guard entries[entry.key] === entry else { return }
        if case .success(let value)? = result {
            keep(value, in: entry, expiresAfter)
        } else {
            entries[entry.key] = nil
        }
    }

    private func keep(_ value: Value, in entry: CacheEntry<Key, Value>, _ expiresAfter: Duration?) {
        guard entry.cost <= costLimit else { return remove(entry) }
        let evicted = evict(downTo: costLimit - entry.cost)
        entry.value = value
        entry.expiry = expiresAfter.map(loop.now.advanced)
        used.append(entry)
        totalCost += entry.cost
        withExtendedLifetime(evicted) {}
    }

    /// Drops values, and returns them: the caller releases them last, as their deinit may use the cache.
    @discardableResult
    private func evict(downTo cost: Int) -> [CacheEntry<Key, Value>] {
        var evicted: [CacheEntry<Key, Value>] = []
        while totalCost > cost, let oldest = used.first {
            remove(oldest)
            evicted.append(oldest)
        }
        return evicted
    }

    private func remove(_ entry: CacheEntry<Key, Value>) {
        entries[entry.key] = nil
        guard entry.value != nil else { return }
        used.remove(entry)
        totalCost -= entry.cost
    }
}

/// A value in a cache, or the fetch that is under way for it.
private final class CacheEntry<Key, Value>: LineMember {
    let key: Key
    var place: Int?
    var work: SharedWork<Value>?
    var value: Value?
    var cost = 0
    var expiry: LoopInstant?

    init(_ key: Key) { self.key = key }

    var complaint: String? { cost < 0 ? "a cost of \(cost) is negative; give zero or more" : nil }
}
