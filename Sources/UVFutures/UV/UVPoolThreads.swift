internal import CFuturesSystem
internal import Glibc
internal import Synchronization
internal import SystemIO

/// The threads of libuv's pool. libuv starts all of them with the first work of the process, and ends the process if it
/// cannot.
enum UVPoolThreads {
    private static let haveStarted = Atomic(false)

    /// Throws an error if the threads are not there and cannot be started. Call it before each work of the pool.
    static func check() throws(SystemError) {
        if haveStarted.load(ordering: .relaxed) { return }
        let error = try_threads(count)
        if error != 0 { throw .noThread(SystemError.Code(rawValue: -error)) }
        haveStarted.store(true, ordering: .relaxed)
    }

    /// The number of threads, as libuv reads it.
    private static var count: CInt {
        guard let text = unsafe getenv("UV_THREADPOOL_SIZE") else { return 4 }
        return min(max(unsafe atoi(text), 1), 1024)
    }
}
