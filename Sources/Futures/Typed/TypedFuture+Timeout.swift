extension TypedFuture {
    /// Completes with the outcome of this future if this future completes within `limit`. Otherwise fails
    /// with the failure that `makeFailure` returns.
    ///
    /// When `limit` has passed, this future is asked to cancel, unless other code waits for it. With
    /// `cancellingSource: false`, this future is not asked to cancel. If `limit` is negative, the returned
    /// future ends as ``FutureFailure/broken(_:)`` with ``FutureError/invalidArgument(_:)``.
    public func timeout(
        after limit: Duration, cancellingSource: Bool = true, _ makeFailure: @escaping () -> Failure
    ) -> TypedFuture {
        let makeFailure = loop.core.carrying(makeFailure)
        let replace = { (target: CellPointer) in
            let cell = target.object
            cell.loop.enqueue { cell.succeed(Result<Value, Failure>.failure(makeFailure())) }
        }
        let timeout = Timeout(limit, replacement: replace, cancelling: cancellingSource, isTyped: true)
        return TypedFuture(outcome.limited(by: timeout))
    }
}
