/// The cases in which a group asks its pending futures to cancel when it ends. A future that something else waits for
/// is left alone in any case. The literals `true` and `false` mean ``always`` and ``never``.
public enum CancelRemaining: Hashable, Sendable {
    /// Asks the pending futures, whatever has ended the group.
    case always
    /// Asks the pending futures, unless the group ended because one of its futures was cancelled.
    case onFailure
    /// Does not ask the pending futures, even when the group itself is cancelled.
    case never
}

extension CancelRemaining: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = value ? .always : .never }
}
