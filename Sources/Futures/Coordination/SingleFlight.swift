/// Work that concurrent callers share. A call while the work is under way gets the outcome of that work: the
/// work does not run a second time.
///
/// Each caller gets a separate future. Cancelling one of them does not affect the others. The work is asked to cancel
/// when nothing waits for it any more. The first call after the work has ended runs it anew.
public final class SingleFlight<Value> {
    private let flights: KeyedSingleFlight<Bool, Value>

    /// Creates an object that shares work on `loop`. If `coalescing` is `true`, work starts in the loop's next turn,
    /// and so serves all calls made in this turn. Otherwise work starts within the call.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        flights = KeyedSingleFlight(coalescing: coalescing, on: loop)
    }

    /// Whether work is under way.
    public var isPerforming: Bool { flights.isPerforming(true) }

    /// Starts `work`, unless earlier work is still under way. Completes with the outcome of the work that is
    /// under way.
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

/// Work that concurrent callers with the same key share. For each key it behaves as a ``SingleFlight`` does. The keys
/// do not affect each other.
public final class KeyedSingleFlight<Key: Hashable, Value> {
    public let loop: EventLoop
    private let isCoalescing: Bool
    private var flights: [Key: Future<Value>] = [:]

    /// Creates an object that shares work on `loop`. If `coalescing` is `true`, work starts in the loop's next turn,
    /// and so serves all calls made in this turn. Otherwise work starts within the call.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        loop.core.checkThread()
        isCoalescing = coalescing
        self.loop = loop.core
    }

    /// The number of keys that have work under way.
    public var count: Int { flights.count }

    /// Whether work for `key` is under way.
    public func isPerforming(_ key: Key) -> Bool { flights[key] != nil }

    /// Starts `work`, unless earlier work for `key` is still under way. Completes with the outcome of the work that
    /// is under way.
    public func perform(_ key: Key, _ work: @escaping () throws -> Future<Value>) -> Future<Value> {
        if let flight = flights[key] { return flight.branch() }
        let flight = SharedWork<Value>(on: loop) { [weak self] _ in self?.flights[key] = nil }
        flights[key] = flight.future
        flight.run(inNextTurn: isCoalescing, work)
        return flight.future.branch()
    }
}
