internal import Dispatch
public import Futures
internal import SystemIO

/// A loop that runs on a thread of its own, until you end the loop.
///
/// Other threads reach the loop by `loop.run { … }`, `loop.wait { … }`, `RemotePromise` and
/// `RemoteContext.loop(_:)`. The thread keeps running when there is no work, and also when this object is
/// released. The thread ends only by ``shutdown()``, by the loop's `stop()`, or with the process. Any thread
/// may use this object.
public final class LoopThread: Sendable {
    /// The loop. It belongs to the new thread.
    public let loop: EventLoop
    /// The name of the thread in lists of threads.
    public let name: String
    private let ended = DispatchGroup()

    fileprivate init(name: String) throws(SystemError) {
        loop = try EventLoop()
        self.name = name
        let started = DispatchSemaphore(value: 0)
        let failure = startThread(name: name, in: ended) { [loop] in
            loop.execute {
                loop.core.hold()
                started.signal()
            }
            do {
                try loop.run()
            } catch {
                fatalError("The loop of a new thread could not be run: \(error)")
            }
            loop.shutdown()
            loop.core.leaveThread()
        }
        if let failure { throw .noThread(failure) }
        // From here on, the loop belongs to the thread and not to the caller.
        started.wait()
    }

    /// Makes the thread shut down the loop and end. This function returns at once. To wait for the end of the
    /// thread, use ``join()``. A second call does nothing.
    ///
    /// Futures that are still pending fail with `FutureError.shutDown`.
    public func shutdown() { loop.stop() }

    /// Calls `body` on a thread of Dispatch after the thread has shut down the loop and released it.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        ended.notify(queue: .global(), execute: body)
    }

    /// Blocks the calling thread until the loop's thread has shut down and released the loop. Traps on the
    /// loop's own thread.
    @available(*, noasync, message: "It would block a thread that tasks share.")
    public func join() {
        if loop.isCurrent {
            trap(
                "join() was called on the loop's own thread, which would wait for itself. Call it elsewhere, or "
                    + "shutdown() only.")
        }
        ended.wait()
    }
}

extension LoopThread: GroupLoop {
    package func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        try loop.wait { [loop] in loop.succeeded(try body()) }
    }
}

extension EventLoop {
    /// Creates a loop that runs on a new thread. The name of the thread is `name`, shortened to 15 bytes.
    ///
    /// Throws ``SystemError`` if the process cannot open more descriptors or start more threads.
    public static func onNewThread(name: String = "event-loop") throws(SystemError) -> LoopThread {
        try LoopThread(name: name)
    }
}
