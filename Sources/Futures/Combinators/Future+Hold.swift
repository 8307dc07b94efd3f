extension Future {
    /// Delays the value or the error of this future until `other` completes.
    ///
    /// If `other` fails or is cancelled, the returned future fails or is cancelled in the same way. If this future is
    /// cancelled, the returned future is cancelled at once, without waiting for `other`.
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
