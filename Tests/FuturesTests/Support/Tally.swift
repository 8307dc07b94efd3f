import Futures
import Synchronization

/// A sum to which any thread may add.
final class Tally: Sendable {
    private let atomic = Atomic(0)

    func add(_ number: Int = 1) { atomic.wrappingAdd(number, ordering: .acquiringAndReleasing) }

    var sum: Int { atomic.load(ordering: .acquiring) }
}

/// What any thread has seen to happen, in order.
final class SharedRecord<Entry: Sendable>: Sendable {
    private let list = Locked<[Entry]>([])

    func add(_ entry: Entry) { list.withLock { $0.append(entry) } }

    var entries: [Entry] { list.withLock { $0 } }
}
