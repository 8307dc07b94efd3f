internal import Glibc
internal import Synchronization

/// A count of the forks that led to this process, from the first `start` on. After a `fork`, the child shares
/// the descriptors of a loop with the parent.
enum ForkWatch {
    private static let forks = Atomic(0)
    private static let isRegistered =
        pthread_atfork(nil, nil) { ForkWatch.forks.add(1, ordering: .relaxed) } == 0

    /// Starts to count. Returns `count`, which only changes in a child that a `fork` makes.
    static func start() -> Int {
        _ = isRegistered
        return count
    }

    @inline(__always)
    static var count: Int { forks.load(ordering: .relaxed) }
}
