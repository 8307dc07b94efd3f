internal import CLibUV
// For its symbols, two of which no header declares.
internal import Dispatch
internal import Futures

/// Whether some loop does the work of the main queue. Use it on the main thread.
nonisolated(unsafe) private var isServing = false

/// Dispatch's descriptor, without which Dispatch would end the process without telling why.
private let mainQueueDescriptor: CInt = {
    do {
        try checkFreeDescriptors(1, for: "main queue")
    } catch {
        trap("An event loop cannot do the work of the main queue: \(error). \(adviceOnDescriptors)")
    }
    return _dispatch_get_main_queue_handle_4CF()
}()

extension UVLoop {
    func startMainQueue() {
        // Dispatch's descriptor can be watched, and nobody else on this loop watches it.
        if unsafe mainQueue == nil { unsafe mainQueue = makePoll(of: mainQueueDescriptor) }
        unsafe uv_poll_start(mainQueue, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            let driver = unsafe UVLoop.from(poll!.pointee.data)
            // Another loop does it, within whose work this one is run. Dispatch would not do it twice, and tells once.
            guard unsafe !isServing else { return driver.stopMainQueue() }
            unsafe isServing = true
            defer { unsafe isServing = false }
            driver.eventLoop.turn {
                // Dispatch never does it, and the loop would find the descriptor readable for ever. Before the work: what
                // comes during that makes it readable again.
                empty_eventfd(mainQueueDescriptor)
                _dispatch_main_queue_callback_4CF(nil)
            }
        }
    }

    func serveMainActor() {
        // Not if somebody has switched it off.
        if unsafe mainQueue == nil, EventLoop.isMainThread { servesMainQueue = true }
    }

    func stopMainQueue() { if let mainQueue = unsafe mainQueue { unsafe uv_poll_stop(mainQueue) } }

    /// Keeps `run` from returning for lack of work, since the main queue may bring some.
    func waitForMainQueue() { if let mainQueue = unsafe mainQueue { unsafe uv_ref(mainQueue.asHandle) } }
}
