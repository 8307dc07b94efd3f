extension Future {
    /// A future with this outcome, value or error, that does not complete before `other` has. Cancellation passes at
    /// once. Fails with what `other` fails with.
    public func delay<Ignored>(until other: Future<Ignored>) -> Future<Value> {
        other.ignoreFailure()
        return cell.derive(
            FlatMapResultStep { result in other.map { _ in try result.get() } }, when: [.success, .failure])
    }
}
