internal import CRuntime
internal import Glibc
internal import Synchronization

/// Which loops belong to which thread, so that they belong to none when that ends: the next thread may get its
/// identity, and would pass for it. Asked when a loop is made, moved or freed; `isCurrent` costs nothing more.
enum OwningThreads {
    /// The addresses of loops, by the identity of their thread. One that is freed has been taken out.
    private static let loops = Locked<[UInt: [UInt]]>([:])

    /// Notes that a new loop belongs to the calling thread.
    static func add(_ loop: EventLoop) {
        noticeEnd()
        loops.withLock { $0[loop.thread.load(ordering: .relaxed), default: []].append(address(of: loop)) }
    }

    static func remove(_ loop: EventLoop) {
        loops.withLock { remove(loop, from: &$0) }
    }

    /// Makes `loop` belong to the calling thread, or to none.
    static func move(_ loop: EventLoop, toCallingThread isClaimed: Bool) {
        if isClaimed { noticeEnd() }
        loops.withLock { loops in
            remove(loop, from: &loops)
            let thread = isClaimed ? current_thread_identity() : 0
            loop.thread.store(thread, ordering: .relaxed)
            if isClaimed { loops[thread, default: []].append(address(of: loop)) }
        }
    }

    private static func remove(_ loop: EventLoop, from loops: inout [UInt: [UInt]]) {
        let thread = loop.thread.load(ordering: .relaxed)
        loops[thread]?.removeAll { $0 == address(of: loop) }
        if loops[thread]?.isEmpty == true { loops[thread] = nil }
    }

    private static func address(of loop: EventLoop) -> UInt { UInt(bitPattern: ObjectIdentifier(loop)) }

    // MARK: The end of a thread

    /// Others that hold futures in thread-specific values let go of them in the first round of destructors, and have
    /// to be on the loop's thread for that.
    private static let lastRound = 3

    private static let endKey: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key) { round in
            OwningThreads.threadEnds(inRound: Int(bitPattern: round))
        }
        guard status == 0 else { fatalError("No thread-specific key is left.") }
        return key
    }()

    /// Has `threadEnds` called at the end of the calling thread.
    private static func noticeEnd() {
        if unsafe pthread_getspecific(endKey) == nil { awaitRound(1) }
    }

    private static func awaitRound(_ round: Int) {
        unsafe pthread_setspecific(endKey, UnsafeRawPointer(bitPattern: round))
    }

    private static func threadEnds(inRound round: Int) {
        if round < lastRound { return awaitRound(round + 1) }
        loops.withLock { loops in
            for address in loops.removeValue(forKey: current_thread_identity()) ?? [] {
                let loop = unsafe Unmanaged<EventLoop>.fromOpaque(UnsafeRawPointer(bitPattern: address)!)
                unsafe loop._withUnsafeGuaranteedRef { $0.thread.store(0, ordering: .relaxed) }
            }
        }
    }
}
