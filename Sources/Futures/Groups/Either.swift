/// One of two things.
public enum FutureEither<Left, Right> {
    case left(Left)
    case right(Right)

    /// The left thing, or `nil` if it is the right one.
    public var left: Left? { if case .left(let left) = self { left } else { nil } }

    /// The right thing, or `nil` if it is the left one.
    public var right: Right? { if case .right(let right) = self { right } else { nil } }

    /// Transforms the thing with `left` or `right`, depending on which it is.
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
    /// The thing, left or right.
    public var value: Left {
        switch self {
        case .left(let value), .right(let value): value
        }
    }
}

extension FutureEither: Equatable where Left: Equatable, Right: Equatable {}
extension FutureEither: Hashable where Left: Hashable, Right: Hashable {}
extension FutureEither: Sendable where Left: Sendable, Right: Sendable {}
