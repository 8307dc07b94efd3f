extension Future {
    /// Calls `body` with this future, and completes the returned future with the value that `body` returns.
    /// If `body` throws, the returned future fails with that error.
    ///
    /// `body` is called when this future has completed, with any outcome, or when `token` is cancelled. If
    /// `token` is cancelled first, `body` may get this future while it is still pending. If this future
    /// completes between the cancellation of `token` and the call of `body`, and no other code holds this
    /// future, `body` gets a cancelled future in its place.
    ///
    /// If you cancel the returned future itself, `body` is not called.
    ///
    /// ```swift
    /// let report = fetch("index").mapFuture { $0.isCancelled ? "stopped" : "fetched: \($0.isSuccess)" }
    /// ```
    public func mapFuture<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Future<Value>) throws -> NewValue
    ) -> Future<NewValue> {
        // The reference is weak, since a consumer must not keep its source alive.
        let step = MapFutureStep<NewValue> { [weak future = cell.checkedRoot.object] waited in
            try body(Future(future ?? waited))
        }
        return until(token, cancellingSource: false).cell.derive(step, when: .all, on: context)
    }
}

private struct MapFutureStep<Output>: Step {
    let body: (_ source: Cell) throws -> Output

    func run(source: CellPointer, target: CellPointer) { target.tryToSucceed { try body(source.object) } }

    static var verb: String? { "mapFuture" }
}
