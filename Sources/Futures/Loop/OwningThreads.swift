internal import CFuturesRuntime
internal import Glibc
internal import Synchronization

/// A record of the loops that belong to each thread. When a thread ends, its loops belong to no thread:
/// otherwise a new thread with the same identity would pass for the owner. `isCurrent` does not use the
/// record, and so stays cheap.
enum OwningThreads {
    /// The addresses of living loops, by the identity of their thread.
    // Read and changed only while `mutex` is locked. A mutex of the system can be held across `fork`. A mutex
    // of the standard library cannot.
    nonisolated(unsafe) private static var loops: [UInt: [UInt]] = [:]
    nonisolated(unsafe) private static let mutex = {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        return unsafe mutex
    }()

    private static func withLoops<Result>(_ body: (inout [UInt: [UInt]]) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe body(&loops)
    }

    /// Notes that a new loop belongs to the calling thread.
    static func add(_ loop: LoopCore) {
        _ = watchesForks
        move(loop, toCallingThread: true)
    }

    static func remove(_ loop: LoopCore) { withLoops { remove(loop, from: &$0) } }

    /// Makes `loop` belong to the calling thread if `isClaimed` is `true`, or to no thread otherwise.
    static func move(_ loop: LoopCore, toCallingThread isClaimed: Bool) {
        if isClaimed { noticeEnd() }
        withLoops { loops in
            remove(loop, from: &loops)
            let thread = isClaimed ? current_thread_identity() : 0
            loop.home.thread.store(thread, ordering: .relaxed)
            if isClaimed { loops[thread, default: []].append(address(of: loop)) }
        }
    }

    private static func remove(_ loop: LoopCore, from loops: inout [UInt: [UInt]]) {
        let thread = loop.home.thread.load(ordering: .relaxed)
        loops[thread]?.removeAll { $0 == address(of: loop) }
        if loops[thread]?.isEmpty == true { loops[thread] = nil }
    }

    private static func address(of loop: LoopCore) -> UInt { UInt(bitPattern: ObjectIdentifier(loop)) }

    // MARK: The end of a thread

    /// The round of thread-specific destructors in which the loops lose their thread. Other code may release
    /// futures in the first round, and must still be on the loop's thread then.
    private static let lastRound = 3

    private static let endKey = unsafe makeThreadKey {
        OwningThreads.threadEnds(inRound: Int(bitPattern: $0))
    }

    /// Makes the system call `threadEnds` at the end of the calling thread.
    private static func noticeEnd() { if unsafe pthread_getspecific(endKey) == nil { awaitRound(1) } }

    private static func awaitRound(_ round: Int) {
        unsafe pthread_setspecific(endKey, UnsafeRawPointer(bitPattern: round))
    }

    private static func threadEnds(inRound round: Int) {
        if round < lastRound { return awaitRound(round + 1) }
        withLoops { loops in
            for address in loops.removeValue(forKey: current_thread_identity()) ?? [] {
                withLoop(at: address) {
                    if $0.isAttached, $0.ending.phase != .closed { Misuse.endOfAttachedThread() }
                    $0.home.thread.store(0, ordering: .relaxed)
                }
            }
        }
    }

    private static func withLoop(at address: UInt, _ body: (LoopCore) -> Void) {
        let loop = unsafe Unmanaged<LoopCore>.fromOpaque(UnsafeRawPointer(bitPattern: address)!)
        unsafe loop._withUnsafeGuaranteedRef(body)
    }

    // MARK: The children of this process

    /// The identity that marks a loop in a forked child process, where the loop must not be used. No thread
    /// has this identity, so each check of the loop's thread fails there.
    static let ofParent: UInt = 1

    private static let watchesForks =
        pthread_atfork(
            { unsafe pthread_mutex_lock(OwningThreads.mutex) },
            { unsafe pthread_mutex_unlock(OwningThreads.mutex) },
            {
                OwningThreads.hasForked()
                unsafe pthread_mutex_unlock(OwningThreads.mutex)
            }) == 0

    private static func hasForked() {
        for address in unsafe loops.values.joined() {
            // A loop that moves with tasks shares nothing with the parent process.
            withLoop(at: address) { if !$0.home.movesWithTasks { $0.belongToParent() } }
        }
        unsafe loops = [:]
    }
}

extension LoopCore {
    fileprivate func belongToParent() {
        home.thread.store(OwningThreads.ofParent, ordering: .relaxed)
        // If a turn of the loop has called `fork`, the end of that turn finds this phase and checks the
        // process.
        ending.phase = .shuttingDown
    }

    /// Ends the process if it is a forked child of the process that owns the loop. May be called on any
    /// thread.
    @inline(__always)
    func checkProcess() {
        if home.thread.load(ordering: .relaxed) == OwningThreads.ofParent { Misuse.forked() }
    }
}
