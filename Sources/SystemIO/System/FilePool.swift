internal import CFuturesSystem
package import Dispatch
package import Futures
internal import Glibc

/// The threads on which file operations run. A thread is started when a job finds no idle one, and ends when it has
/// been idle for some time.
///
/// One lock guards all of the state. No outside code is called under the lock.
package final class FilePool: Sendable {
    /// The pool of the process.
    package static let shared = FilePool(limit: 4)

    fileprivate struct State {
        var limit: Int
        /// The jobs that wait, oldest first. If there are any, `limit` threads are busy.
        var line = Fifo<FilePoolJob>()
        /// The number of threads that run jobs, or have been woken or started to do so.
        var busy = 0
        /// The number of the other threads.
        var idle = 0
    }

    package typealias StartThread = @Sendable (@escaping @Sendable () -> Void) -> SystemError.Code?

    private let state: Locked<State>
    private let wakeUps = DispatchSemaphore(value: 0)
    private let patience: DispatchTimeInterval
    private let startThread: StartThread

    /// Creates a pool of at most `limit` threads, which end when they have been idle for `patience`.
    package init(
        limit: Int, patience: DispatchTimeInterval = .seconds(5),
        startThread: @escaping StartThread = { startThreadWithoutSignals(name: "files", $0) }
    ) {
        state = Locked(State(limit: limit))
        self.patience = patience
        self.startThread = startThread
    }

    /// The maximum number of jobs that run at a time.
    package var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            let count = state.withLock { state in
                state.limit = newValue
                return state.line.count
            }
            for _ in 0..<count { wakeThread() }
        }
    }

    /// The number of threads now, and of jobs that wait for one.
    package var threadCount: Int { state.withLock { $0.busy + $0.idle } }
    package var waitingCount: Int { state.withLock { $0.line.count } }

    /// Runs `job` on a thread of the pool later. Fails the job if no thread exists and none can be started.
    package func run(_ job: RemoteJob) {
        add { refusal in job.run(refusal: refusal) }
    }

    /// Closes a descriptor. Does so at once on a thread of the pool, and elsewhere hands it to the pool, because
    /// closing a file on another machine may take long.
    func close(_ descriptor: CInt) {
        if unsafe pthread_getspecific(Self.threadKey) == nil {
            add { _ in Glibc.close(descriptor) }
        } else {
            Glibc.close(descriptor)
        }
    }

    /// The key that has a value only on the threads of a pool.
    private static let threadKey = makeThreadKey()

    private func add(_ job: @escaping FilePoolJob) {
        state.withLock { $0.line.append(job) }
        wakeThread()
    }

    /// Makes one more thread busy, within the limit.
    private func wakeThread() {
        guard let isNew = state.withLock({ $0.takeThread() }) else { return }
        if !isNew {
            wakeUps.signal()
        } else if let code = startThread({ [self] in work() }) {
            for job in state.withLock({ $0.threadIsMissing() }) { job(.noThread(code)) }
        }
    }

    private func work() {
        unsafe pthread_setspecific(Self.threadKey, Unmanaged.passUnretained(self).toOpaque())
        while true {
            while let job = state.withLock({ $0.takeJob() }) { job(nil) }
            if wakeUps.wait(timeout: .now() + patience) == .timedOut {
                if state.withLock({ $0.endIdle() }) { return }
                // This thread has just been made busy, and is about to be woken.
                wakeUps.wait()
            }
        }
    }
}

/// Called with an error if there is no thread for the job.
private typealias FilePoolJob = @Sendable (SystemError?) -> Void

extension FilePool.State {
    /// Makes a thread busy. Returns `true` if the caller has to start the thread, `false` if the caller has to wake it,
    /// and `nil` if no other thread is needed or allowed.
    fileprivate mutating func takeThread() -> Bool? {
        guard busy < limit, !line.isEmpty else { return nil }
        busy += 1
        guard idle > 0 else { return true }
        idle -= 1
        return false
    }

    /// Takes the next job for a busy thread. If no job waits or too many threads are busy, returns `nil`: the thread is
    /// idle.
    fileprivate mutating func takeJob() -> FilePoolJob? {
        if busy <= limit, let job = line.takeFirst() { return job }
        busy -= 1
        idle += 1
        return nil
    }

    /// Ends an idle thread. Returns `false` if all idle threads have become busy.
    fileprivate mutating func endIdle() -> Bool {
        guard idle > 0 else { return false }
        idle -= 1
        return true
    }

    /// Notes that a thread could not be started. Returns the jobs that no thread will ever run.
    fileprivate mutating func threadIsMissing() -> [FilePoolJob] {
        busy -= 1
        guard busy == 0 else { return [] }
        return (0..<line.count).compactMap { _ in line.takeFirst() }
    }
}
