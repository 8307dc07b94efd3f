internal import Glibc
internal import Synchronization

/// How often this process has come out of a `fork`: what a loop needs of the system is shared with the parent then.
enum ForkWatch {
    private static let forks = Atomic(0)
    private static let isRegistered =
        pthread_atfork(nil, nil) { ForkWatch.forks.add(1, ordering: .relaxed) } == 0

    /// What `count` is from now on, unless the process forks.
    static func start() -> Int {
        _ = isRegistered
        return count
    }

    @inline(__always)
    static var count: Int { forks.load(ordering: .relaxed) }
}
