internal import CLibUV
internal import Futures
internal import Synchronization
internal import SystemIO

/// The driver of a libuv loop. It reports events to the event loop. If the libuv loop is the driver's own,
/// the driver also waits in `uv_run`. The driver never runs, stops, closes or walks the libuv loop of a host.
///
/// libuv owns no memory here. The handles below belong to this object, and are freed after their close
/// callbacks.
@safe
final class UVLoop: LoopDriver {
    let loop: UnsafeMutablePointer<uv_loop_t>
    let isAttached: Bool
    /// Whether threads that run the loop block SIGPIPE.
    var blocksBrokenPipes = false
    let forks = ForkWatch.start()
    let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    let idle = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    /// The handle that watches for work of the main queue. `nil` until `servesMainQueue` is `true` for the
    /// first time.
    var mainQueue: UnsafeMutablePointer<uv_poll_t>?
    /// Whether the loop does the work of Dispatch's main queue and of the main actor.
    var servesMainQueue = false {
        didSet { servesMainQueue ? startMainQueue() : stopMainQueue() }
    }

    /// The event loop, which owns this driver. It stays alive while a handle is open.
    var eventLoopReference: Unmanaged<LoopCore>!
    var eventLoop: LoopCore { unsafe eventLoopReference.takeUnretainedValue() }

    /// Whether `wake` has been called since the last `wokenUp`. Any thread may use it.
    private let isWakePending = Atomic(false)
    private var isNeeded = false
    private var isRunning = false
    private var isStopped = false
    var isClosing = false
    /// The number of the driver's own handles that are being closed.
    var closingHandles = 0
    var onClose: () -> Void = {}
    private var isTimerArmed = false
    /// The idle time as of the last question. libuv cannot be asked about a loop that is closed.
    private var idleTime: UInt64 = 0
    /// The reasons why the idle handle is active: a requested turn, and timers that were due when they were armed.
    private var isTurnRequested = false
    private var areTimersDue = false

    @exclusivity(unchecked) var handles = UVHandleList()
    /// Whether libuv has been asked for a stream.
    var hasStreams = false
    var polls = UVPollList()
    /// Whether a watch may need a check. Swift checks each access to `polls` at run time, so this property is
    /// cheaper to read.
    var checksWatches = false
    @exclusivity(unchecked) var readBlock = UVReadBlock()
    @exclusivity(unchecked) var readShare = UVReadShare()
    var writes = UVWritePool()
    /// The memory of datagram sockets. `nil` while there are none.
    var datagrams: UVDatagramBlock?
    /// The `NameResolver` of this loop, or `nil`. This folder may not name the type.
    var resolver: Any?
    /// The source of the numbers of connections.
    var numbers = UniqueNumbers()
    var resident: AnyObject?
    /// The requests for the jobs in the thread pool, by the identity of the job.
    var works: [ObjectIdentifier: UVWork] = [:]
    /// The `FileEventHub` of this loop, which its watches keep alive. This folder may not name the type.
    weak var fileEventHub: AnyObject?
    let hangUps = UVHangUps()
    /// The descriptors that users have handed over, with their owners.
    var adopted: [CInt: AdoptedDescriptors.Entry] = [:]

    /// Creates a driver with a loop of its own.
    convenience init() throws(SystemError) { try unsafe self.init(makeLoop(), isAttached: false) }

    /// Creates a driver for an initialized libuv loop. If `isAttached` is `true`, the loop belongs to a host.
    init(_ loop: UnsafeMutablePointer<uv_loop_t>, isAttached: Bool) {
        unsafe self.loop = loop
        self.isAttached = isAttached
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe withOwnHandles { unsafe $0.pointee.data = own }
        // None of these calls can fail: `uv_loop_init` has opened the descriptors that the handles share.
        unsafe uv_async_init(loop, async) { unsafe UVLoop.from($0!.pointee.data).wokenUp() }
        unsafe uv_timer_init(loop, timer)
        unsafe uv_idle_init(loop, idle)
        unsafe uv_prepare_init(loop, prepare)
        unsafe uv_prepare_start(prepare) { unsafe UVLoop.from($0!.pointee.data).isAboutToWait() }
        unsafe uv_unref(prepare.asHandle)
        unsafe uv_unref(async.asHandle)
        guard isAttached else { return }
        nameWhatClosesHandles()
        SignalEffects.hasHost()
    }

    deinit {
        if !isAttached { unsafe loop.deallocate() }
        unsafe withOwnHandles { unsafe $0.deallocate() }
    }

    /// Calls `body` with each handle of the driver itself.
    func withOwnHandles(_ body: (UnsafeMutablePointer<uv_handle_t>) -> Void) {
        unsafe body(async.asHandle)
        unsafe body(timer.asHandle)
        unsafe body(idle.asHandle)
        unsafe body(prepare.asHandle)
        if let mainQueue = unsafe mainQueue { unsafe body(mainQueue.asHandle) }
        if let poll = unsafe hangUps.poll { unsafe body(poll.asHandle) }
    }

    /// Makes a handle that watches `descriptor` for the driver itself, and does not keep the loop alive.
    func makePoll(of descriptor: CInt) throws(SystemError) -> UnsafeMutablePointer<uv_poll_t> {
        claim(descriptor)
        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        unsafe poll.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        let status = unsafe uv_poll_init(loop, poll, descriptor)
        guard status == 0 else {
            unsafe poll.deallocate()
            throw SystemError(status, "watch")
        }
        unsafe uv_unref(poll.asHandle)
        return unsafe poll
    }

    static func from(_ data: UnsafeMutableRawPointer?) -> UVLoop {
        unsafe Unmanaged.fromOpaque(data!).takeUnretainedValue()
    }

    // MARK: Time

    var now: UInt64 { uv_hrtime() }

    func measuredIdleTime() -> UInt64 {
        if !isAttached, !isClosing { idleTime = unsafe uv_measured_idle_time(loop) }
        return idleTime
    }

    func arm(deadline: UInt64?, keepsAlive: Bool) {
        if isClosing { return }
        isTimerArmed = false
        areTimersDue = false
        guard let deadline else {
            unsafe uv_timer_stop(timer)
            return stopUnusedIdle()
        }
        unsafe uv_update_time(loop)
        // Both times are in whole milliseconds since the same start. The deadline is rounded up, so that no
        // timer fires early.
        let due = deadline / 1_000_000 + (deadline.isMultiple(of: 1_000_000) ? 0 : 1)
        let now = unsafe uv_now(loop)
        // libuv's clock may be a millisecond behind.
        if due <= now + 2, deadline <= uv_hrtime() { return fireSoon(keepsAlive: keepsAlive) }
        stopUnusedIdle()
        isTimerArmed = true
        unsafe (keepsAlive ? uv_ref : uv_unref)(timer.asHandle)
        unsafe uv_timer_start(timer, { unsafe UVLoop.from($0!.pointee.data).timerFired() }, due - now, 0)
    }

    /// Fires timers that are already due, by the idle handle and not by libuv's timer. libuv's timer waits
    /// for at least a millisecond, unless a callback starts it with zero. But with zero, libuv up to version
    /// 1.47 never looks at its descriptors.
    private func fireSoon(keepsAlive: Bool) {
        if isAttached, unsafe uv_is_closing(idle.asHandle) != 0 { return }
        unsafe uv_timer_stop(timer)
        areTimersDue = true
        startIdle(keepsAlive: keepsAlive || isTurnRequested)
    }

    private func timerFired() {
        isTimerArmed = false
        eventLoop.timerFired()
    }

    /// Called before libuv waits. Updates libuv's time, because libuv computes how long to wait from the time
    /// when the round began. After long callbacks, libuv would wait too long.
    private func isAboutToWait() {
        checkProcess()
        if isTimerArmed { unsafe uv_update_time(loop) }
        if checksWatches { checkWatches() }
        if hangUps.hasNew { hangUps.watchNew(self) }
    }

    // MARK: Turns

    func requestTurn() {
        // While the driver closes, no turn runs. Cells that are ready run after the close.
        if isClosing { return }
        if isAttached, unsafe uv_is_closing(idle.asHandle) != 0 { return hostHasClosed() }
        isTurnRequested = true
        startIdle(keepsAlive: true)
    }

    /// Starts the idle handle, which keeps `uv_run` from waiting and costs no system call.
    private func startIdle(keepsAlive: Bool) {
        unsafe (keepsAlive ? uv_ref : uv_unref)(idle.asHandle)
        unsafe uv_idle_start(idle) { unsafe UVLoop.from($0!.pointee.data).turnIsDue() }
    }

    private func stopUnusedIdle() { if !isTurnRequested { unsafe uv_idle_stop(idle) } }

    /// Runs the requested turn first, and then the due timers. libuv looks at its descriptors before the next
    /// call of this function.
    private func turnIsDue() {
        if isTurnRequested {
            isTurnRequested = false
            eventLoop.requestedTurn()
        }
        if areTimersDue, !isClosing {
            areTimersDue = false
            eventLoop.timerFired()
        }
        if !areTimersDue { stopUnusedIdle() }
    }

    private func hostHasClosed() {
        isClosing = true
        eventLoop.hostHasClosed()
    }

    func wake() {
        checkProcess()
        isWakePending.store(true, ordering: .sequentiallyConsistent)
        unsafe uv_async_send(async)
    }

    private func wokenUp() {
        // Set before the jobs are taken, so that a job that comes later wakes the loop again.
        isWakePending.store(false, ordering: .sequentiallyConsistent)
        referenceAsync()
        eventLoop.wokenUp()
    }

    func keepAlive(_ isNeeded: Bool) {
        self.isNeeded = isNeeded
        referenceAsync()
    }

    private func referenceAsync() {
        if isClosing { return }
        let keepsAlive = isNeeded || isWakePending.load(ordering: .sequentiallyConsistent)
        unsafe (keepsAlive ? uv_ref : uv_unref)(async.asHandle)
    }

    // MARK: Running

    func run() {
        checkProcess()
        if servesMainQueue, !EventLoop.isMainThread {
            trap(
                "An event loop that does the work of the main queue was run off the main thread. Make and "
                    + "run it on the main thread, or set servesMainQueue to false first.")
        }
        blockBrokenPipes()
        isRunning = true
        isStopped = false
        // The watch of the main queue has been stopped if another loop has run this loop within its work.
        if servesMainQueue { startMainQueue() }
        repeat {
            // A job that came just before must run. So the async handle keeps `uv_run` from returning at
            // once.
            referenceAsync()
            unsafe uv_run(loop, UV_RUN_DEFAULT)
        } while !isStopped && isWakePending.load(ordering: .sequentiallyConsistent)
        isRunning = false
    }

    func stop() {
        // Outside of a run, libuv would remember the stop, and would end the next run.
        guard isRunning else { return }
        isStopped = true
        unsafe uv_stop(loop)
    }

    func poll() {
        checkProcess()
        blockBrokenPipes()
        // libuv does not look at its descriptors when nothing keeps the loop alive.
        unsafe uv_ref(async.asHandle)
        unsafe uv_run(loop, UV_RUN_NOWAIT)
        referenceAsync()
    }

    var openHandles: [String] {
        unsafe handles.all.map { $0.isClosing ? "\($0.line), closing" : $0.line }
    }
}
