internal import CLibUV
internal import Futures
internal import Synchronization

/// The driver of a loop that owns its libuv loop: waits in `uv_run`, and says what happened.
///
/// libuv owns nothing here: the handles below belong to this object and are freed after `uv_loop_close`.
@safe
final class UVLoop: LoopDriver {
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    private let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)

    /// Owns this driver, and lives as long as a handle is open.
    unowned(unsafe) var eventLoop: EventLoop!

    /// Any thread: `wake` has been called since `wokenUp`.
    private let isWakePending = Atomic(false)
    private var isNeeded = false
    private var isRunning = false
    private var isStopped = false
    private var isTimerArmed = false
    private var isTimerFiring = false

    var handles = UVHandleList()
    @exclusivity(unchecked) var readBlock = UVReadBlock()
    var writes = UVWritePool()
    /// Goes up by one in each round of `uv_run`.
    private(set) var round: UInt64 = 0
    /// Listeners that have had their share of this round.
    var pausedListeners: [UVListener] = []

    init() throws(UVError) {
        try unsafe UVError.check(uv_loop_init(loop), "loop")
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe async.pointee.data = own
        unsafe timer.pointee.data = own
        unsafe idle.pointee.data = own
        unsafe prepare.pointee.data = own
        // None of these can fail: the descriptors that they share came with the loop.
        unsafe uv_async_init(loop, async) { unsafe UVLoop.from($0!.pointee.data).wokenUp() }
        unsafe uv_timer_init(loop, timer)
        unsafe uv_idle_init(loop, idle)
        unsafe uv_prepare_init(loop, prepare)
        unsafe uv_prepare_start(prepare) { unsafe UVLoop.from($0!.pointee.data).isAboutToWait() }
        unsafe uv_unref(prepare.asHandle)
        unsafe uv_unref(async.asHandle)
    }

    deinit {
        unsafe loop.deallocate()
        unsafe async.deallocate()
        unsafe timer.deallocate()
        unsafe idle.deallocate()
        unsafe prepare.deallocate()
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> UVLoop {
        unsafe Unmanaged.fromOpaque(data!).takeUnretainedValue()
    }

    // MARK: Time

    var now: UInt64 { uv_hrtime() }

    func arm(deadline: UInt64?, keepsAlive: Bool) {
        isTimerArmed = deadline != nil
        guard let deadline else {
            unsafe uv_timer_stop(timer)
            return
        }
        unsafe (keepsAlive ? uv_ref : uv_unref)(timer.asHandle)
        unsafe uv_update_time(loop)
        // Both ends in whole milliseconds since the same start, the deadline rounded up: never early.
        let due = deadline / 1_000_000 + (deadline.isMultiple(of: 1_000_000) ? 0 : 1)
        let now = unsafe uv_now(loop)
        // Up to 1.47 libuv fires a timer again in the same round that its own callback arms with 0, for ever.
        let delay = max(due > now ? due - now : 0, isTimerFiring ? 1 : 0)
        unsafe uv_timer_start(timer, { unsafe UVLoop.from($0!.pointee.data).timerFired() }, delay, 0)
    }

    private func timerFired() {
        isTimerFiring = true
        isTimerArmed = false
        unsafe eventLoop.timerFired()
        isTimerFiring = false
    }

    /// libuv waits by the time at which the round began. After long callbacks that would be too long.
    private func isAboutToWait() {
        round &+= 1
        if isTimerArmed { unsafe uv_update_time(loop) }
        while let listener = pausedListeners.popLast() { listener.resume() }
    }

    // MARK: Turns

    /// An active idle handle keeps `uv_run` from waiting and costs no system call.
    func requestTurn() {
        unsafe uv_idle_start(idle) { unsafe UVLoop.from($0!.pointee.data).turnIsDue() }
    }

    private func turnIsDue() {
        unsafe uv_idle_stop(idle)
        unsafe eventLoop.turn()
    }

    func wake() {
        isWakePending.store(true, ordering: .sequentiallyConsistent)
        unsafe uv_async_send(async)
    }

    private func wokenUp() {
        // Before the jobs are taken: what is added later wakes again.
        isWakePending.store(false, ordering: .sequentiallyConsistent)
        referenceAsync()
        unsafe eventLoop.wokenUp()
    }

    func keepAlive(_ isNeeded: Bool) {
        self.isNeeded = isNeeded
        referenceAsync()
    }

    private func referenceAsync() {
        let keepsAlive = isNeeded || isWakePending.load(ordering: .sequentiallyConsistent)
        unsafe (keepsAlive ? uv_ref : uv_unref)(async.asHandle)
    }

    // MARK: Running

    func run() {
        isRunning = true
        isStopped = false
        repeat {
            // A job that came just before must run, though libuv sees nothing that would keep it here.
            referenceAsync()
            unsafe uv_run(loop, UV_RUN_DEFAULT)
        } while !isStopped && isWakePending.load(ordering: .sequentiallyConsistent)
        isRunning = false
    }

    func stop() {
        // Otherwise libuv would remember it, and end the next run.
        guard isRunning else { return }
        isStopped = true
        unsafe uv_stop(loop)
    }

    func poll(blocking: Bool) {
        referenceAsync()
        unsafe uv_run(loop, blocking ? UV_RUN_ONCE : UV_RUN_NOWAIT)
    }

    func closeHandles() {
        while !handles.isEmpty {
            handles.abortAll()
            unsafe uv_run(loop, UV_RUN_NOWAIT)
        }
    }

    func close() {
        unsafe uv_close(async.asHandle, nil)
        unsafe uv_close(timer.asHandle, nil)
        unsafe uv_close(idle.asHandle, nil)
        unsafe uv_close(prepare.asHandle, nil)
        unsafe uv_run(loop, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(loop)
        if status != 0 {
            fatalError(
                "An event loop could not be closed (\(UVError.Code(rawValue: status).name)): somebody else has a "
                    + "handle open on it. Close that before the loop is shut down.")
        }
    }
}

extension UnsafeMutablePointer {
    /// Every libuv handle begins with a `uv_handle_t`.
    var asHandle: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: uv_handle_t.self)
    }
}
