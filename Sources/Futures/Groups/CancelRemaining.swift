/// Says whether a group asks its pending futures to cancel when the group ends. A group is a future that
/// waits for several futures, such as the future that `Future.all` returns.
///
/// A group never cancels a future for which other code waits. The other code can be a derived future, an
/// observer such as the closure of `whenSuccess`, an `await`, or another group. The literals `true` and
/// `false` mean ``always`` and ``never``.
public enum CancelRemaining: Hashable, Sendable {
    /// Asks the pending futures to cancel, whatever has ended the group.
    case always
    /// Asks the pending futures to cancel, unless the group ended because one of its futures was cancelled.
    case onFailure
    /// Never asks the pending futures to cancel, even when the future of the group is cancelled.
    case never
}

extension CancelRemaining: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = value ? .always : .never }
}
