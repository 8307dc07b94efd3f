/// The condition under which a token is cancelled. It depends on one source, or on other conditions.
///
/// A combined condition hears of the end of each of its parts once, so a graph of conditions takes linear time. It
/// leaves its parts when it is released. So if one of these parts lives longer, nothing of the combined condition stays
/// behind in it.
@usableFromInline
final class TokenCondition {
    /// A cell that succeeds when the condition is met. It is cancelled when the condition can never be met any more.
    let signal: Cell
    /// The parts that have not ended.
    private var parts: [TokenPart] = []
    private let needsAll: Bool
    /// The number of parts that have not ended. If none of them decides alone, the last one decides.
    private var left: Int

    /// Creates a condition that is met when `signal` succeeds.
    init(_ signal: Cell) {
        self.signal = signal
        (needsAll, left) = (false, 0)
    }

    /// Creates a condition that is met when one of `conditions` is, or all of them if `needsAll` is `true`. Returns `nil`
    /// if `conditions` is empty. Traps if `conditions` belong to different loops.
    init?(_ conditions: [TokenCondition], needsAll: Bool) {
        guard let first = conditions.first else { return nil }
        for condition in conditions where condition.loop !== first.loop { Misuse.foreignToken() }
        signal = Cell.plain(first.loop, state: .pending, of: Void.self)
        self.needsAll = needsAll
        left = conditions.count
        for condition in conditions where !signal.isCompleted {
            if condition.signal.isCompleted {
                partEnded(isMet: condition.isMet)
            } else {
                parts.append(TokenPart(condition, of: self))
            }
        }
    }

    // A chain of conditions is released in a loop: each of them takes apart what only it holds.
    deinit {
        var parts = parts
        while let part = parts.popLast() {
            guard var condition = part.leave() else { continue }
            if isKnownUniquelyReferenced(&condition) { parts += exchange(&condition.parts, with: []) }
        }
    }

    var loop: LoopCore { signal.loop }

    /// Whether the condition is met, so that the token has been cancelled.
    var isMet: Bool { signal.hasSucceeded }

    /// Whether the condition of a token that was passed to an object of `loop` is met. Traps if the token belongs to
    /// another loop.
    @usableFromInline
    func isMet(on loop: LoopCore) -> Bool {
        guard self.loop === loop else { Misuse.foreignToken() }
        return isMet
    }

    /// Whether the condition is met, or can still be met.
    var canBeMet: Bool { !signal.isCompleted || isMet }

    fileprivate func partEnded(isMet: Bool) {
        left -= 1
        // One part decides, or the last.
        guard isMet != needsAll || left == 0, !signal.isCompleted else { return }
        let former = exchange(&parts, with: [])
        for part in former { part.stopWaiting() }
        if isMet { signal.succeed(()) } else { signal.fail(CancellationError()) }
        withExtendedLifetime(former) {}
    }
}

/// The wait of a combined condition for one of its parts.
private final class TokenPart: TokenPlace {
    private unowned let whole: TokenCondition

    init(_ condition: TokenCondition, of whole: TokenCondition) {
        self.whole = whole
        super.init(condition)
    }

    override func ended(isMet: Bool) { whole.partEnded(isMet: isMet) }
}
