public import Foundation
internal import Synchronization

/// Runs `body` on a thread of its own, and returns what it returns or throws.
public func onThread<Value: Sendable>(
    stackSize: Int = 1 << 20, _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
    let ended = DispatchSemaphore(value: 0)
    let outcome = Outcome<Value>()
    startThread(stackSize: stackSize, body) { result in
        outcome.result.withLock { $0 = result }
        ended.signal()
    }
    ended.wait()
    return try outcome.result.withLock { $0! }.get()
}

/// Starts `body` on a thread of its own: the queues of Dispatch may be kept busy by tests that wait. It has been
/// released when `group` has been left.
public func startThread(of group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    startThread(body) { _ in group.leave() }
}

/// Waits until the task has been cancelled, and then for a thread of `group`, which goes on for a moment. `resume` is
/// how that thread lets the task go on.
public nonisolated(nonsending) func outlastCancellation(
    _ group: DispatchGroup,
    resume: @escaping @Sendable (CheckedContinuation<Void, Never>) -> Void = { $0.resume() }
) async {
    let cancelled = DispatchSemaphore(value: 0)
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            startThread(of: group) {
                cancelled.wait()
                resume(continuation)
            }
        }
    } onCancel: {
        cancelled.signal()
    }
}

/// Starts `body` on a thread of its own, releases it, and calls `ended` with what it returned or threw.
public func startThread<Value: Sendable>(
    stackSize: Int = 1 << 20, _ body: @escaping @Sendable () throws -> Value,
    ended: @escaping @Sendable (Result<Value, any Error>) -> Void
) {
    let job = Job(body)
    let thread = Thread { ended(job.run()) }
    thread.stackSize = stackSize
    thread.start()
}

/// Releases what the body holds when it has run, while the thread lives on for a moment.
private final class Job<Value: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () throws -> Value)?>

    init(_ body: @escaping @Sendable () throws -> Value) { self.body = Mutex(body) }

    func run() -> Result<Value, any Error> {
        Result { try body.withLock { $0.take() }!() }
    }
}

private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
}
