internal import CFuturesSystem
internal import CLibUV
// Links Dispatch, for two of its functions that no header declares.
internal import Dispatch
internal import Futures
internal import SystemIO

/// Whether a loop is doing the work of the main queue at this moment. Used on the main thread only.
nonisolated(unsafe) private var isServing = false

/// The descriptor by which Dispatch reports work of the main queue. Traps if no descriptor is free, because
/// Dispatch would end the process without a message.
private let mainQueueDescriptor: CInt = {
    do {
        try checkFreeDescriptors(1, for: "main queue")
    } catch {
        cannotServe(error, adviceOnDescriptors)
    }
    return _dispatch_get_main_queue_handle_4CF()
}()

private func cannotServe(_ error: any Error, _ advice: String) -> Never {
    trap("An event loop cannot do the work of the main queue: \(error). \(advice)")
}

extension UVLoop {
    func startMainQueue() {
        if unsafe mainQueue == nil {
            do throws(SystemError) {
                // Nobody else on this loop watches Dispatch's descriptor.
                unsafe mainQueue = try makePoll(of: mainQueueDescriptor)
            } catch {
                cannotServe(error, "Free some memory, or raise the sysctl fs.epoll.max_user_watches.")
            }
        }
        unsafe uv_poll_start(mainQueue, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            let driver = unsafe UVLoop.from(poll!.pointee.data)
            // Another loop is doing the work of the main queue, and that work runs this loop. Dispatch would
            // refuse to do more work within that work, and reports work only once. So this loop stops the
            // watch.
            guard unsafe !isServing else { return driver.stopMainQueue() }
            unsafe isServing = true
            defer { unsafe isServing = false }
            driver.eventLoop.turn {
                // Dispatch never empties the descriptor, so the loop would find it readable for ever. New
                // work makes the descriptor readable again, also during the callback. So the descriptor is
                // emptied before the callback.
                empty_eventfd(mainQueueDescriptor)
                _dispatch_main_queue_callback_4CF(nil)
            }
        }
    }

    func serveMainActor() {
        // If `mainQueue` exists, `servesMainQueue` has been `true` before. The user may have set it to
        // `false` since then.
        if unsafe mainQueue == nil, EventLoop.isMainThread { servesMainQueue = true }
    }

    func stopMainQueue() { if let mainQueue = unsafe mainQueue { unsafe uv_poll_stop(mainQueue) } }

    /// Keeps `run` from returning when there is no work, because the main queue may bring work.
    func waitForMainQueue() { if let mainQueue = unsafe mainQueue { unsafe uv_ref(mainQueue.asHandle) } }
}
