internal import Futures

/// The threads that look up names, by the rules of ``SystemResolver``. A thread ends when it has nothing to do.
///
/// One lock guards all of the state. No outside code is called under the lock.
final class LookupThreads: Sendable {
    typealias Answer = Result<[SocketAddress], ResolutionError>
    typealias Asker = RemotePromise<[SocketAddress]>

    /// The numbers that identify a waiting caller.
    struct Place: Sendable {
        fileprivate let lookup: UInt64
        fileprivate let asker: UInt64
    }

    fileprivate struct Lookup {
        let name: String
        var askers: [UInt64: Asker] = [:]
        var isStarted = false
    }

    fileprivate struct State {
        let limit: Int
        let maximum: Int
        var lastID: UInt64 = 0
        /// All lookups for which callers wait.
        var lookups: [UInt64: Lookup] = [:]
        /// The lookups that have not been started, oldest first.
        var line: [UInt64] = []
        /// The lookups that others may join, by name. All other lookups are overdue.
        var fresh: [String: UInt64] = [:]
        /// The number of threads, including those whose answer is no longer awaited.
        var threads = 0
        /// The number of lookups that have been started.
        var started: Int { lookups.count - line.count }
    }

    private let state: Locked<State>
    private let lookUp: @Sendable (String) -> Answer

    init(limit: Int, maximum: Int, _ lookUp: @escaping @Sendable (String) -> Answer) {
        state = Locked(State(limit: limit, maximum: maximum))
        self.lookUp = lookUp
    }

    /// The number of threads.
    var count: Int { state.withLock { $0.threads } }

    /// Looks up `name`, and completes `promise` with the addresses. Their ports are 0.
    func ask(_ name: String, _ promise: Asker) -> Place {
        let place = state.withLock { $0.add(name, promise) }
        startWhatMay()
        return place
    }

    /// Ends the wait of one caller, and releases its promise.
    func leave(_ place: Place) {
        let promise = state.withLock { $0.remove(place) }
        if promise != nil { startWhatMay() }
    }

    /// Lets the lookup start beyond the limit, if it has not been started.
    func hurry(_ place: Place) {
        state.withLock { $0.makeOverdue(place.lookup) }
        startWhatMay()
    }

    private func startWhatMay() {
        while let next = state.withLock({ $0.takeNext(onNewThread: true) }) {
            if let status = startThreadWithoutSignals(name: "resolver", { self.work(next) }) {
                answer(next.id, .failure(ResolutionError(name: next.name, code: status)))
                state.withLock { $0.threads -= 1 }
            }
        }
    }

    /// Runs the lookup `first` on this thread, and then others until none can start.
    private func work(_ first: (id: UInt64, name: String)) {
        var lookup: (id: UInt64, name: String)? = first
        while let current = lookup {
            answer(current.id, lookUp(current.name))
            lookup = state.withLock { $0.takeNext(onNewThread: false) }
        }
    }

    private func answer(_ id: UInt64, _ answer: Answer) {
        for promise in state.withLock({ $0.end(id) }) { promise.complete(answer.mapError { $0 }) }
    }
}

extension LookupThreads.State {
    fileprivate mutating func add(_ name: String, _ promise: LookupThreads.Asker) -> LookupThreads.Place {
        lastID += 1
        let asker = lastID
        let key = name.lowercased()
        let lookup = fresh[key] ?? asker
        if lookup == asker {
            lookups[lookup] = LookupThreads.Lookup(name: name)
            line.append(lookup)
            fresh[key] = lookup
        }
        lookups[lookup]?.askers[asker] = promise
        return LookupThreads.Place(lookup: lookup, asker: asker)
    }

    /// Removes a caller. Returns its promise, which must be released outside of the lock.
    fileprivate mutating func remove(_ place: LookupThreads.Place) -> LookupThreads.Asker? {
        let promise = lookups[place.lookup]?.askers.removeValue(forKey: place.asker)
        if lookups[place.lookup]?.askers.isEmpty == true { _ = end(place.lookup) }
        return promise
    }

    /// Removes a lookup. Returns the promises of its callers, in the order of the calls.
    fileprivate mutating func end(_ id: UInt64) -> [LookupThreads.Asker] {
        makeOverdue(id)
        guard let lookup = lookups.removeValue(forKey: id) else { return [] }
        if !lookup.isStarted { line.removeAll { $0 == id } }
        return lookup.askers.sorted { $0.key < $1.key }.map(\.value)
    }

    fileprivate mutating func makeOverdue(_ id: UInt64) {
        guard let name = lookups[id]?.name.lowercased() else { return }
        if fresh[name] == id { fresh[name] = nil }
    }

    /// Returns the next lookup to start. A thread that gets `nil` has to end.
    fileprivate mutating func takeNext(onNewThread isNew: Bool) -> (id: UInt64, name: String)? {
        let isFull = isNew && threads >= maximum
        guard !isFull, let id = line.first, let name = lookups[id]?.name,
            started < limit || fresh[name.lowercased()] != id
        else {
            if !isNew { threads -= 1 }
            return nil
        }
        line.removeFirst()
        lookups[id]?.isStarted = true
        if isNew { threads += 1 }
        return (id, name)
    }
}
