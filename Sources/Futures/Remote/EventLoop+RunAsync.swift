internal import Synchronization

extension EventLoop {
    /// Runs `body` on the loop and returns what it returns, or throws what it throws. From any task.
    ///
    /// What it returns is sent to the task, and need not be `Sendable` if nothing on the loop keeps it.
    /// Fails with ``FutureError/shutDown`` if the loop has been shut down.
    public func run<Value>(_ body: @escaping @Sendable () throws -> sending Value) async throws
        -> sending Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let accepted = execute {
                do {
                    continuation.resume(returning: try body())
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            if !accepted { continuation.resume(throwing: FutureError.shutDown) }
        }
    }

    /// Runs `body` on the loop and awaits the future that it returns. From any task.
    ///
    /// While it waits, it is a consumer and keeps ``run()`` from returning. Cancelling the task ends the wait with
    /// a `CancellationError`, and the future is asked to cancel if nobody else waits for it.
    /// Fails with ``FutureError/shutDown`` if the loop has been shut down.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Future<Value>
    ) async throws -> Value {
        let (id, isCancelled) = (newRemoteID(), CancelFlag())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let accepted = execute {
                    do {
                        self.addWaiter(id, for: try body(), keepsAlive: true) {
                            continuation.resume(with: $0)
                        }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                    // The request may have come before there was a waiter to end.
                    if isCancelled.value { self.endRemote(id, with: CancellationError()) }
                }
                if !accepted { continuation.resume(throwing: FutureError.shutDown) }
            }
        } onCancel: {
            isCancelled.set()
            endRemote(id, with: CancellationError())
        }
    }
}

private final class CancelFlag: Sendable {
    private let flag = Atomic(false)

    var value: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}
