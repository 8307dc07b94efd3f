internal import CFuturesRuntime

/// An object that hears that a task was cancelled.
///
/// It does the work of `withTaskCancellationHandler`, which costs as much as all the rest of a wait: that function is
/// generic, and a call of it is asynchronous.
protocol CancellationHandler: AnyObject, Sendable {
    /// Called on any thread, while the task holds a lock. Called once for each handler.
    func taskWasCancelled()
}

extension CancellationHandler {
    /// Adds this object to the current task. If that task is cancelled already, calls the object. The task releases
    /// what it has allocated since then before it calls `stopHandling`.
    func handleCancellation() -> UnsafeRawPointer {
        unsafe add_cancellation_handler(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Removes the handler. Waits for a call of the handler that has begun on another thread.
    func stopHandling(_ handler: UnsafeRawPointer) {
        unsafe swift_task_removeCancellationHandler(handler)
        withExtendedLifetime(self) {}
    }
}

@_cdecl("swift_uv_futures_task_was_cancelled")
func taskWasCancelled(_ handler: UnsafeRawPointer) {
    let handler = unsafe Unmanaged<AnyObject>.fromOpaque(handler).takeUnretainedValue()
    (handler as! any CancellationHandler).taskWasCancelled()
}

/// The cancellation handler of a task that is no body's task, while the task waits. It ends the wait with a
/// `CancellationError`, unless the task waits for what ignores that.
final class WaitCancellation: CancellationHandler, @unchecked Sendable {
    // Sendable because `ticket` changes only while no task has this handler.
    private let loop: LoopCore
    var ticket: ParkingLot.Ticket

    init(of ticket: ParkingLot.Ticket, on loop: LoopCore) {
        self.ticket = ticket
        self.loop = loop
    }

    func taskWasCancelled() {
        let (loop, ticket) = (loop, ticket)
        loop.executeAtOnce { loop.cancelWait(ticket) }
    }
}
