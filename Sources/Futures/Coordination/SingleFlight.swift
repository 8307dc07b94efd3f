/// Work shared by its callers: a call while it is under way gets the same outcome, without a second run.
///
/// Each caller gets a future of its own. Cancelling one of several changes nothing for the others. The work is asked
/// to cancel when nobody waits for it any more. The next call after its end runs it anew.
public final class SingleFlight<Value> {
    private let flights: KeyedSingleFlight<Bool, Value>

    /// Creates one for `loop`. With `coalescing`, work starts in the loop's next turn, for all calls in this one.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        flights = KeyedSingleFlight(coalescing: coalescing, on: loop)
    }

    /// Whether work is under way.
    public var isPerforming: Bool { flights.isPerforming(true) }

    /// Starts `work` unless work is under way, and completes with the outcome of the work.
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

/// Like ``SingleFlight``, but for each of many keys by itself.
public final class KeyedSingleFlight<Key: Hashable, Value> {
    public let loop: EventLoop
    private let isCoalescing: Bool
    private var flights: [Key: Future<Value>] = [:]

    /// Creates one for `loop`. With `coalescing`, work starts in the loop's next turn, for all calls in this one.
    public init(coalescing: Bool = false, on loop: EventLoop) {
        loop.core.checkThread()
        isCoalescing = coalescing
        self.loop = loop.core
    }

    /// The number of keys with work under way.
    public var count: Int { flights.count }

    /// Whether work for `key` is under way.
    public func isPerforming(_ key: Key) -> Bool { flights[key] != nil }

    /// Starts `work` unless work for `key` is under way, and completes with the outcome of the work.
    public func perform(_ key: Key, _ work: @escaping () throws -> Future<Value>) -> Future<Value> {
        if let flight = flights[key] { return flight.branch() }
        let flight = SharedWork<Value>(on: loop) { [weak self] _ in self?.flights[key] = nil }
        flights[key] = flight.future
        flight.run(inNextTurn: isCoalescing, work)
        return flight.future.branch()
    }
}
