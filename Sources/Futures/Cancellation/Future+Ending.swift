extension Future {
    /// `until`, for what is inlined into users' code: without a token there is nothing to be done.
    @inlinable
    func ending(with token: CancellationToken) -> Future {
        token.condition == nil ? self : ended(by: token)
    }

    @usableFromInline
    func ended(by token: CancellationToken) -> Future { until(token) }
}
