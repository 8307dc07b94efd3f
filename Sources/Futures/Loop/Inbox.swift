internal import Glibc

/// What other threads hand to the loop: a list that is swapped out whole, and one wake-up for each time it fills.
///
/// Uses the system's lock, told to try for a moment before it sleeps. The lock of Swift 6 goes through the kernel as
/// soon as threads meet, for 40 µs.
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
    // Touched with the mutex only.
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

    /// How often the driver was asked to wake up.
    var wakeUps: UInt64 { withLock { $0.wakeUps } }

    /// Adds a job, or returns `false` once the inbox is closed. Wakes under the lock, so never after `close`.
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

    /// Swaps all jobs into `jobs`, which is empty. Its room serves the next ones.
    func swapAll(with jobs: inout [Job?]) { withLock { swap(&$0.jobs, &jobs) } }

    /// Refuses jobs from now on, and returns those accepted before.
    func close() -> [Job?] {
        withLock { state in
            state.isOpen = false
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}

/// A closure of another thread. Bare closures in an array would each need a thunk.
struct Job {
    let body: @Sendable () -> Void
}

/// Jobs that the loop has taken in, first in, first out.
struct JobList {
    /// The room that is kept for the next jobs.
    private static let keptRoom = 8192

    private var jobs: [Job?] = []
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

    /// Appends jobs that have come while some of these ran.
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
