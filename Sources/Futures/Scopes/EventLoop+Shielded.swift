extension EventLoop {
    /// Runs `body` to its end, even if the task that calls this method is cancelled before or meanwhile. So a cancelled
    /// task can await its clean-up.
    ///
    /// `body` runs as a task of its own, in the same way as in ``Future/init(on:isolation:_:)``, and this method returns
    /// what `body` returns, or throws what it throws. When `limit` has passed, that task is cancelled, and each of its waits
    /// throws from then on. This method always waits until `body` has ended. If `body` then throws a `CancellationError`, this
    /// method throws ``FutureError/timedOut(after:)``. With a negative `limit`, throws ``FutureError/invalidArgument(_:)``
    /// and does not run `body`. If the loop shuts down, throws ``FutureError/shutDown``.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    ///
    /// ```swift
    /// do { try await connection.readToEnd().value } catch {
    ///     try await loop.shielded(within: .seconds(2)) { try await connection.close().value }
    /// }
    /// ```
    public func shielded<Value>(
        within limit: Duration, isolation: (any Actor)? = #isolation,
        _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        guard limit.wholeNanoseconds != nil else { throw FutureError.negativeDuration(limit) }
        let work = Future(on: self, isolation: isolation, for: nil, endsWithWork: true, body)
        let timer = schedule(after: limit) { _ = work.cancel(.evenIfOthersWaiting) }
        defer { timer.cancel() }
        do { return try await work.ignoringCancellation().value } catch is CancellationError
            where timer.future.isCompleted
        {
            throw FutureError.timedOut(after: limit)
        }
    }
}
