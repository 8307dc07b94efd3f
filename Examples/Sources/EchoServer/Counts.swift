import Synchronization

/// What all loops count.
final class Counts: Sendable {
    private let connectionCount = Atomic(0)
    private let byteCount = Atomic(0)
    private let failureCount = Atomic(0)

    var connections: Int { connectionCount.load(ordering: .relaxed) }
    var bytes: Int { byteCount.load(ordering: .relaxed) }
    var failures: Int { failureCount.load(ordering: .relaxed) }

    func connected() { connectionCount.add(1, ordering: .relaxed) }
    func sent(_ count: Int) { byteCount.add(count, ordering: .relaxed) }
    func failed() { failureCount.add(1, ordering: .relaxed) }
}
