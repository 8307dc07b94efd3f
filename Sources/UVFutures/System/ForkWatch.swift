internal import Glibc
internal import Synchronization

/// Counts the forks of this process. After a `fork`, the system's part of a loop is shared with the parent.
enum ForkWatch {
    private static let forks = Atomic(0)
    private static let isRegistered =
        pthread_atfork(nil, nil) { ForkWatch.forks.add(1, ordering: .relaxed) } == 0

    /// Starts to count, and returns what `count` is until the process forks.
    static func start() -> Int {
        _ = isRegistered
        return count
    }

    @inline(__always)
    static var count: Int { forks.load(ordering: .relaxed) }
}
