extension Future {
    /// Delays the value or the error until `other` completes. Passes cancellation on at once.
    ///
    /// Fails with the error of `other` if that fails.
    ///
    /// ```swift
    /// let page = fetch("index").delay(until: connection.write("one moment\n"))
    /// ```
    public func delay<Ignored>(until other: Future<Ignored>) -> Future<Value> {
        other.ignoreFailure()
        return cell.derive(
            FlatMapResultStep { result in other.map { _ in try result.get() } }, when: [.success, .failure])
    }
}
