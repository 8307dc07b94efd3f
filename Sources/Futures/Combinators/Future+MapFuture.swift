extension Future {
    /// Calls `body` with this future itself, and completes with what `body` returns.
    ///
    /// Calls `body` when this future has completed in any way, or when `token` is cancelled. In that case the future
    /// may still be pending. If the future has completed meanwhile and nobody else holds it, `body` gets a cancelled
    /// one instead. Cancelling the returned future itself cancels it as usual.
    ///
    /// ```swift
    /// let report = fetch("index").mapFuture { $0.isCancelled ? "stopped" : "fetched: \($0.isSuccess)" }
    /// ```
    public func mapFuture<NewValue>(
        on context: LocalContext = .default, token: CancellationToken = .none,
        _ body: @escaping (Future<Value>) throws -> NewValue
    ) -> Future<NewValue> {
        // A continuation does not keep alive what leads to it.
        let step = MapFutureStep<NewValue> { [weak future = cell.checkedRoot.object] waited in
            try body(Future(future ?? waited))
        }
        return until(token, cancellingSource: false).cell.derive(step, when: .all, on: context)
    }
}

private struct MapFutureStep<Output>: Step {
    let body: (_ source: Cell) throws -> Output

    func run(source: CellPointer, target: CellPointer) {
        do {
            target.succeed(try body(source.object))
        } catch {
            target.fail(error)
        }
    }

    static var verb: String? { "mapFuture" }
}
