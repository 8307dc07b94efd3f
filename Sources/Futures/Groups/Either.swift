/// One of two things.
public enum FutureEither<Left, Right> {
    case left(Left)
    case right(Right)

    /// The left thing, if it is that.
    public var left: Left? { if case .left(let left) = self { left } else { nil } }

    /// The right thing, if it is that.
    public var right: Right? { if case .right(let right) = self { right } else { nil } }

    /// What `left` or `right` makes of the thing that is there.
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
    /// The thing, whichever it is.
    public var value: Left {
        switch self {
        case .left(let value), .right(let value): value
        }
    }
}

extension FutureEither: Equatable where Left: Equatable, Right: Equatable {}
extension FutureEither: Hashable where Left: Hashable, Right: Hashable {}
extension FutureEither: Sendable where Left: Sendable, Right: Sendable {}
