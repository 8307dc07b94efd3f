extension EventLoop {
    /// Runs `body` on the loop, and returns its value. If `body` throws an error, this method throws the same
    /// error. May be called from any task.
    ///
    /// The loop sends the value to the task. The value need not be `Sendable`, but then `body` must not keep
    /// the value on the loop: the compiler checks this. Throws ``FutureError/shutDown`` if the loop has been
    /// shut down.
    ///
    /// ```swift
    /// let elsewhere = worker.loop
    /// let statistics = try await elsewhere.run { elsewhere.statistics }
    /// ```
    public func run<Value>(_ body: @escaping @Sendable () throws -> sending Value) async throws
        -> sending Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let accepted = execute {
                continuation.resume(with: Result { try body() })
            }
            if !accepted { continuation.resume(throwing: FutureError.shutDown) }
        }
    }

    /// Runs `body` on the loop, and awaits the future that `body` returns. Returns the value of that future,
    /// or throws its error. May be called from any task.
    ///
    /// While the task waits, ``Future/cancel()`` of that future returns `false`, because the task needs the
    /// future. The wait keeps ``run()`` from returning. If the task is cancelled, the wait ends with a
    /// `CancellationError`. The future is then asked to cancel, unless other code waits for it. Throws
    /// ``FutureError/shutDown`` if the loop has been shut down.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Future<Value>
    ) async throws -> Value {
        try await Visit(core).run(body)
    }
}
