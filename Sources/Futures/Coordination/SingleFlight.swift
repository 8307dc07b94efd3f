/// An object that lets several callers share one run of their work: two runs are never in progress at the
/// same time. A caller that comes while the work is in progress gets the outcome of that work.
///
/// Each caller gets a separate future. Cancelling one of these futures does not affect the others. When no
/// caller waits any more, the work is asked to cancel. The first call after the end of the work starts the
/// work again.
public final class SingleFlight<Value> {
    private let flights: KeyedSingleFlight<Bool, Value>

    /// Creates an object that shares work on `loop`. If `coalescing` is `false`, the first call of `perform`
    /// starts the work at once. If `coalescing` is `true`, the work starts in the loop's next turn. The work
    /// then serves all calls that are made before that turn.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        flights = KeyedSingleFlight(coalescing: coalescing, on: loop)
    }

    /// Whether work is in progress.
    public var isPerforming: Bool { flights.isPerforming(true) }

    /// Returns a future with the outcome of the work that is in progress. If no work is in progress, first
    /// starts `work`.
    ///
    /// ```swift
    /// let logins = SingleFlight<Data>(on: loop)
    /// let first = logins.perform { fetch("login") }
    /// let second = logins.perform { fetch("login") }    // waits for the same fetch
    /// ```
    public func perform(_ work: @escaping () throws -> Future<Value>) -> Future<Value> {
        flights.perform(true, work)
    }
}

/// An object that lets several callers with the same key share one run of their work: two runs for one key
/// are never in progress at the same time. For each key, this object behaves like a ``SingleFlight``. The
/// keys do not affect each other. A key's `==` and `hash(into:)` must not use the object.
public final class KeyedSingleFlight<Key: Hashable, Value> {
    public let loop: EventLoop
    private let isCoalescing: Bool
    private var flights: [Key: Future<Value>] = [:]

    /// Creates an object that shares work on `loop`. If `coalescing` is `false`, the first call of `perform`
    /// for a key starts the work at once. If `coalescing` is `true`, the work starts in the loop's next turn.
    /// The work then serves all calls for the same key that are made before that turn.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        loop.core.checkThread()
        isCoalescing = coalescing
        self.loop = loop.core
    }

    /// The number of keys for which work is in progress.
    public var count: Int { flights.count }

    /// Whether work for `key` is in progress.
    public func isPerforming(_ key: Key) -> Bool { flights[key] != nil }

    /// Returns a future with the outcome of the work that is in progress for `key`. If no work is in progress
    /// for `key`, first starts `work`.
    public func perform(_ key: Key, _ work: @escaping () throws -> Future<Value>) -> Future<Value> {
        if let flight = flights[key] { return flight.branch() }
        let flight = SharedWork<Value>(on: loop) { [weak self] _ in self?.flights[key] = nil }
        flights[key] = flight.future
        flight.run(inNextTurn: isCoalescing, work)
        return flight.future.branch()
    }
}
