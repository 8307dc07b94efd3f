internal import CLibUV
// For its symbols, two of which no header declares.
internal import Dispatch
internal import Futures

extension UVLoop {
    func startMainQueue() {
        if unsafe mainQueue == nil {
            let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
            unsafe poll.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            // Dispatch's descriptor can be watched, and nobody else on this loop watches it.
            unsafe uv_poll_init(loop, poll, _dispatch_get_main_queue_handle_4CF())
            unsafe uv_unref(poll.asHandle)
            unsafe mainQueue = poll
        }
        unsafe uv_poll_start(mainQueue, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            unsafe UVLoop.from(poll!.pointee.data).eventLoop.turn { _dispatch_main_queue_callback_4CF(nil) }
        }
    }

    func stopMainQueue() {
        if let mainQueue = unsafe mainQueue { unsafe uv_poll_stop(mainQueue) }
    }

    /// While `true`, `run` does not return for want of work, since the main queue may bring some.
    func waitForMainQueue(_ isNeeded: Bool) {
        if let mainQueue = unsafe mainQueue { unsafe (isNeeded ? uv_ref : uv_unref)(mainQueue.asHandle) }
    }
}
