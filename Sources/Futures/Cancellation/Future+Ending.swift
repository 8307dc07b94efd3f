extension Future {
    /// Calls `until`, for code that is inlined into users' code. Does nothing without a token.
    @inlinable
    func ending(with token: CancellationToken) -> Future {
        token.condition == nil ? self : ended(by: token)
    }

    @usableFromInline
    func ended(by token: CancellationToken) -> Future { until(token) }
}
