internal import Glibc

/// The jobs that other threads submit to the loop. The loop takes all of them at once. The first job in an
/// empty inbox wakes the loop.
///
/// Uses a lock of the system that spins for a moment before it sleeps. The mutex of Swift 6 enters the kernel
/// as soon as two threads meet, which takes 40 µs.
@safe
final class Inbox: Sendable {
    private struct State {
        var jobs: [Job?] = []
        var isOpen = true
        var wakeUps: UInt64 = 0

        mutating func wake(_ loop: LoopCore) {
            wakeUps &+= 1
            loop.driver.wake()
        }
    }

    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Read and changed only while `mutex` is locked.
    @exclusivity(unchecked) nonisolated(unsafe) private var state = State()

    init() {
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @inline(__always)
    private func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe body(&state)
    }

    /// The number of times that the inbox has woken the driver.
    var wakeUps: UInt64 { withLock { $0.wakeUps } }

    /// Adds a job. Returns `false` if the inbox is closed. Wakes the driver while the lock is held, so that
    /// no wake-up comes after `close`.
    // Inlined, since threads that submit jobs pay for each call.
    @inline(__always)
    func add(_ body: @escaping @Sendable () -> Void, waking loop: LoopCore) -> Bool {
        loop.checkProcess()
        return withLock { state in
            guard state.isOpen else { return false }
            state.jobs.append(Job(body: body))
            if state.jobs.count == 1 { state.wake(loop) }
            return true
        }
    }

    func wake(_ loop: LoopCore) {
        withLock { if $0.isOpen { $0.wake(loop) } }
    }

    /// Moves all jobs into `jobs`, which must be empty. The inbox keeps the storage of `jobs` for later jobs.
    func swapAll(with jobs: inout [Job?]) { withLock { swap(&$0.jobs, &jobs) } }

    /// Refuses jobs from now on. Returns the jobs that were accepted before.
    func close() -> [Job?] {
        withLock { state in
            state.isOpen = false
            return exchange(&state.jobs, with: [])
        }
    }
}

/// A closure that another thread has submitted. The struct saves a thunk that a closure in an array would
/// need.
struct Job {
    let body: @Sendable () -> Void
}

/// The jobs that the loop has taken from its inbox. First in, first out.
struct JobList {
    /// The largest capacity, in jobs, that an empty list keeps.
    private static let keptRoom = 8192

    private(set) var jobs: [Job?] = []
    private var next = 0

    var isEmpty: Bool { jobs.isEmpty }
    var count: Int { jobs.count - next }

    mutating func refill(from inbox: Inbox) {
        if jobs.isEmpty { return inbox.swapAll(with: &jobs) }
        var others: [Job?] = []
        inbox.swapAll(with: &others)
        append(others)
    }

    mutating func append(_ others: [Job?]) {
        if next > jobs.count / 2 {
            jobs.removeFirst(next)
            next = 0
        }
        if jobs.isEmpty { jobs = others } else { jobs += others }
    }

    /// Appends the jobs of `others`.
    mutating func append(_ others: JobList) { if !others.isEmpty { append(others.jobs) } }

    mutating func takeFirst() -> Job? {
        guard next < jobs.count else { return nil }
        let job = jobs[next].take()
        next += 1
        if next == jobs.count {
            jobs.removeAll(keepingCapacity: next <= JobList.keptRoom)
            next = 0
        }
        return job
    }
}
