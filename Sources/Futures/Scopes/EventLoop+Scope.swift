extension EventLoop {
    /// Runs `body` with a new scope, and returns what `body` returns when `body` and all members of the scope have ended.
    ///
    /// `body` is a member of the scope itself. So the first failure, of `body` or of another member, cancels `body` and the
    /// other members, and this method throws that error when all have ended. A `CancellationError` that `body` throws cancels
    /// the other members, too. If the task that calls this method is
    /// cancelled, the scope is cancelled, and this method still waits for the end of all. When `limit` has passed, the scope
    /// is cancelled, and this method throws ``FutureError/timedOut(after:)``. With a negative `limit`, throws
    /// ``FutureError/invalidArgument(_:)`` and does not run `body`. ``FutureScope`` says more about members.
    ///
    /// Members that are to end when `body` returns are cancelled by ``FutureScope/cancel()``, as the last call of `body`.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    ///
    /// ```swift
    /// let (page, image) = try await loop.scope { scope in
    ///     let image = scope.run { try await load("image") }
    ///     let page = try await load("page")
    ///     return (page, try await image.value)
    /// }
    /// ```
    public func scope<Value>(
        within limit: Duration? = nil, isolation: (any Actor)? = #isolation,
        _ body: @escaping (_ scope: FutureScope) async throws -> Value
    ) async throws -> Value {
        let scope = FutureScope(on: self, within: limit)
        let work = scope.run(isolation: isolation) { try await body(scope) }
        work.whenCancelled { scope.cancel() }
        try await scope.ended.ignoringCancellation(onCancelledWait: { scope.cancel() }).value
        return try await work.value
    }
}
