/// The condition under which a token is cancelled. It depends on one source or on several sources.
///
/// A combined condition does not wait for its parts. Each registration on it waits for them. Therefore a
/// combined token that is released leaves nothing behind in a token that lives longer.
@usableFromInline
final class TokenCondition {
    enum Kind {
        case signal(Cell)
        case any([TokenCondition])
        case all([TokenCondition])
    }

    private let kind: Kind
    let loop: LoopCore

    /// Creates a condition that is met when `signal` succeeds.
    init(_ signal: Cell) {
        kind = .signal(signal)
        loop = signal.loop
    }

    /// Creates a condition on `parts`, which `kind` combines. Returns `nil` if `parts` is empty. Traps if
    /// `parts` belong to different loops.
    init?(_ kind: ([TokenCondition]) -> Kind, of parts: [TokenCondition]) {
        guard let first = parts.first else { return nil }
        for part in parts where part.loop !== first.loop { Misuse.foreignToken() }
        self.kind = kind(parts)
        loop = first.loop
    }

    /// Whether the condition is met, so that the token has been cancelled.
    var isMet: Bool { holds { $0.hasSucceeded } }

    /// Whether the condition is met of a token that something of `loop` was given. Traps if the token belongs to
    /// another loop.
    @usableFromInline
    func isMet(on loop: LoopCore) -> Bool {
        guard self.loop === loop else { Misuse.foreignToken() }
        return isMet
    }

    /// Whether the condition is met, or can still be met.
    var canBeMet: Bool { holds { !$0.isCompleted || $0.hasSucceeded } }

    /// Returns whether `test` holds for the signals, as `kind` combines them.
    private func holds(_ test: (Cell) -> Bool) -> Bool {
        switch kind {
        case .signal(let cell): test(cell)
        case .any(let parts): parts.contains { $0.holds(test) }
        case .all(let parts): parts.allSatisfy { $0.holds(test) }
        }
    }

    /// The cells of the sources that the condition depends on, without those that have completed.
    var pendingSignals: [Cell] {
        switch kind {
        case .signal(let cell): cell.isCompleted ? [] : [cell]
        case .any(let parts), .all(let parts): parts.flatMap(\.pendingSignals)
        }
    }
}
