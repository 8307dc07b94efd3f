internal import CRuntime
internal import Glibc
internal import Synchronization

/// Records which loops belong to which thread. When a thread ends its loops belong to none: the next thread may get
/// its identity, and would pass for it. Asked when a loop is made, moved or freed. `isCurrent` costs nothing more.
enum OwningThreads {
    /// The addresses of loops, by the identity of their thread. Freed loops have been taken out.
    // Touched with the mutex only, which a fork can hold, as the standard library's cannot be held.
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

    /// Makes `loop` belong to the calling thread, or to none.
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

    /// The round of destructors that counts. Other code that holds futures in thread-specific values releases them in
    /// the first round, and has to be on the loop's thread for that.
    private static let lastRound = 3

    private static let endKey: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key) { round in
            OwningThreads.threadEnds(inRound: Int(bitPattern: round))
        }
        guard status == 0 else { fatalError("No thread-specific key is left.") }
        return key
    }()

    /// Arranges that `threadEnds` is called at the end of the calling thread.
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

    /// Stands for the thread of a loop in a forked child, where nothing of the loop may be used. So every check for
    /// the loop's thread finds that out too.
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
            // One that moves with tasks has nothing that it could share with the parent.
            withLoop(at: address) { if !$0.home.movesWithTasks { $0.belongToParent() } }
        }
        unsafe loops = [:]
    }
}

extension LoopCore {
    fileprivate func belongToParent() {
        home.thread.store(OwningThreads.ofParent, ordering: .relaxed)
        // A turn that has forked finds out at its end.
        ending.phase = .shuttingDown
    }

    /// Ends the process if it is a forked child of the process that owns the loop. Any thread.
    @inline(__always)
    func checkProcess() {
        if home.thread.load(ordering: .relaxed) == OwningThreads.ofParent { Misuse.forked() }
    }
}
