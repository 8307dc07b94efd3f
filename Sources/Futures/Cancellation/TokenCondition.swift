/// The condition under which a token is cancelled: with its source, or with several of them.
///
/// A combined token waits for nothing itself. Each of its registrations does, so that a token with a short life leaves
/// nothing behind on one that lives long.
@usableFromInline
final class TokenCondition {
    private enum Kind {
        case signal(Cell)
        case any([TokenCondition])
        case all([TokenCondition])
    }

    private let kind: Kind
    let loop: LoopCore

    private init(_ kind: Kind, on loop: LoopCore) {
        self.kind = kind
        self.loop = loop
    }

    static func signal(_ cell: Cell) -> TokenCondition {
        TokenCondition(.signal(cell), on: cell.loop)
    }

    static func any(_ conditions: [TokenCondition]) -> TokenCondition? {
        combined(conditions) { .any($0) }
    }

    static func all(_ conditions: [TokenCondition]) -> TokenCondition? {
        combined(conditions) { .all($0) }
    }

    private static func combined(
        _ conditions: [TokenCondition], _ kind: ([TokenCondition]) -> Kind
    ) -> TokenCondition? {
        guard let first = conditions.first else { return nil }
        for condition in conditions where condition.loop !== first.loop { Misuse.foreignToken() }
        return TokenCondition(kind(conditions), on: first.loop)
    }

    var isMet: Bool {
        switch kind {
        case .signal(let cell): cell.hasSucceeded
        case .any(let parts): parts.contains(where: \.isMet)
        case .all(let parts): parts.allSatisfy(\.isMet)
        }
    }

    /// Whether the condition is met or may still be.
    var canBeMet: Bool {
        switch kind {
        case .signal(let cell): !cell.isCompleted || cell.hasSucceeded
        case .any(let parts): parts.contains(where: \.canBeMet)
        case .all(let parts): parts.allSatisfy(\.canBeMet)
        }
    }

    /// The signals that it depends on and that have not come yet.
    var pendingSignals: [Cell] {
        switch kind {
        case .signal(let cell): cell.isCompleted ? [] : [cell]
        case .any(let parts), .all(let parts): parts.flatMap(\.pendingSignals)
        }
    }
}
