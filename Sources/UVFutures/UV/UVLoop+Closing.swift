internal import CLibUV
internal import Futures
internal import SystemIO

extension UVLoop {
    func closeHandles() {
        checkProcess()
        for handle in unsafe handles.all { handle.abort() }
        while !isAttached, unsafe !handles.isEmpty {
            unsafe uv_run(loop, UV_RUN_NOWAIT)
            for handle in unsafe handles.all { handle.abort() }
        }
    }

    func close(_ done: @escaping () -> Void) {
        checkProcess()
        isClosing = true
        withExtendedLifetime((resolver.take(), resident.take())) {}
        hangUps.end()
        onClose = done
        // A host may run the close callbacks after the last use of the event loop. Until then, this keeps the
        // driver.
        unsafe _ = Unmanaged.passRetained(self)
        let waitsForWorks = !isAttached && !works.isEmpty
        unsafe withOwnHandles { if unsafe $0 != timer.asHandle || !waitsForWorks { unsafe close($0) } }
        if waitsForWorks { waitForWorks() }
        if isAttached { return }
        unsafe uv_run(loop, UV_RUN_DEFAULT)
        let status = unsafe uv_loop_close(loop)
        if status != 0 {
            trap(
                "An event loop could not be closed (\(SystemError.Code(rawValue: status).name)): somebody else has a "
                    + "handle open on it. Close that before the loop is shut down.")
        }
    }

    /// Waits for the jobs of the thread pool, which nothing can interrupt. The timer prints a report if that
    /// takes long.
    private func waitForWorks() {
        closingHandles += 1
        unsafe uv_unref(timer.asHandle)
        let tell: uv_timer_cb = {
            let driver = unsafe UVLoop.from($0!.pointee.data)
            StandardError.print(
                "shutdown() has waited for \(driver.eventLoop.patienceAtEnd) for jobs of the thread pool "
                    + "(\(driver.works.count) of them), which nobody can interrupt. Let them end by "
                    + "themselves.")
        }
        unsafe uv_timer_start(timer, tell, eventLoop.patienceAtEnd.wholeNanoseconds! / 1_000_000, 0)
    }

    /// Called when a job of the thread pool has ended.
    func workHasEnded() {
        guard isClosing, !isAttached, works.isEmpty else { return }
        closingHandles -= 1
        unsafe close(timer.asHandle)
    }

    private func close(_ handle: UnsafeMutablePointer<uv_handle_t>) {
        closingHandles += 1
        unsafe uv_close(handle) { unsafe UVLoop.from($0!.pointee.data).closed() }
    }

    private func closed() {
        closingHandles -= 1
        guard closingHandles == 0 else { return }
        hangUps.closeSet()
        exchange(&onClose, with: {})()
        unsafe Unmanaged.passUnretained(self).release()
    }

    /// Sets a close callback with a name that tells users of Node what to do. When a worker ends with open
    /// handles, Node prints the name of each handle's callback and aborts.
    func nameWhatClosesHandles() {
        unsafe withOwnHandles {
            unsafe $0.pointee.close_cb = call_detach_on_the_event_loop_and_wait_for_its_future
        }
    }
}
