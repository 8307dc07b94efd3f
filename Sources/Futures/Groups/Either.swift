/// A value of one of two types: a left value or a right value.
public enum FutureEither<Left, Right> {
    case left(Left)
    case right(Right)

    /// The left value, or `nil` if this is a right value.
    public var left: Left? { if case .left(let left) = self { left } else { nil } }

    /// The right value, or `nil` if this is a left value.
    public var right: Right? { if case .right(let right) = self { right } else { nil } }

    /// Transforms a left value with `left`, or a right value with `right`.
    ///
    /// ```swift
    /// let size = Future.select(fetch("index"), or: text).map { $0.map(left: \.count, right: \.count).value }
    /// ```
    public func map<NewLeft, NewRight>(
        left: (Left) throws -> NewLeft, right: (Right) throws -> NewRight
    ) rethrows -> FutureEither<NewLeft, NewRight> {
        switch self {
        case .left(let value): .left(try left(value))
        case .right(let value): .right(try right(value))
        }
    }
}

extension FutureEither where Left == Right {
    /// The left value or the right value. Both have the same type.
    public var value: Left {
        switch self {
        case .left(let value), .right(let value): value
        }
    }
}

extension FutureEither: Equatable where Left: Equatable, Right: Equatable {}
extension FutureEither: Hashable where Left: Hashable, Right: Hashable {}
extension FutureEither: Sendable where Left: Sendable, Right: Sendable {}
