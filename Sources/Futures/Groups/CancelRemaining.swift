/// When a group that has its outcome asks its pending futures to cancel, as far as nobody else waits for them. `true`
/// and `false` stand for ``always`` and ``never``.
public enum CancelRemaining: Hashable, Sendable {
    /// No matter what has ended the group.
    case always
    /// Unless the group ended because one of its futures was cancelled.
    case onFailure
    /// Not even when the group itself is cancelled.
    case never
}

extension CancelRemaining: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = value ? .always : .never }
}
