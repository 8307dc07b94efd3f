internal import CRuntime

/// The cancellation handler of a task while the task waits. It ends the wait with a `CancellationError`.
///
/// It does the work of `withTaskCancellationHandler`, which costs as much as all the rest of a wait: that function is
/// generic, and a call of it is asynchronous.
final class WaitCancellation: @unchecked Sendable {
    // Sendable because `ticket` changes only while no task has this handler.
    private let loop: LoopCore
    var ticket: ParkingLot.Ticket

    init(of ticket: ParkingLot.Ticket, on loop: LoopCore) {
        self.ticket = ticket
        self.loop = loop
    }

    /// Adds the handler to the current task. If that task is cancelled already, calls the handler. The task releases
    /// what it has allocated since then before it calls `end`.
    func begin() -> UnsafeRawPointer {
        unsafe add_cancellation_handler(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Removes the handler. Waits for a call of the handler that has begun on another thread.
    func end(_ handler: UnsafeRawPointer) {
        unsafe swift_task_removeCancellationHandler(handler)
        withExtendedLifetime(self) {}
    }

    fileprivate func endWait() {
        let (loop, ticket) = (loop, ticket)
        loop.executeAtOnce { loop.endWait(ticket, with: CancellationError()) }
    }
}

@_cdecl("swift_uv_futures_task_was_cancelled")
func taskWasCancelled(_ cancellation: UnsafeRawPointer) {
    unsafe Unmanaged<WaitCancellation>.fromOpaque(cancellation).takeUnretainedValue().endWait()
}
