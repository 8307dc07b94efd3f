/// A wait for the end of a condition: until it is met, or can never be met any more.
///
/// The wait adds a cell to the list of the condition's signal, and is the producer of this cell. When the signal
/// completes, its outcome passes through the cell. To stop waiting, the cell is taken out of the list, in constant time.
class TokenPlace: Producer {
    /// The condition, until the wait has ended.
    private(set) final var condition: TokenCondition?
    private final var place: Cell?

    /// Begins to wait for `condition`. Waits for nothing if that has ended already.
    init(_ condition: TokenCondition) {
        super.init()
        guard !condition.signal.isCompleted else { return }
        self.condition = condition
        let place = Cell.plain(condition.loop, state: .pending, of: Void.self)
        place.setProducer(self)
        self.place = place
        condition.signal.register(place, when: [])
    }

    override final func settled() { if let condition = leave() { ended(isMet: condition.isMet) } }

    /// Called when the condition has ended.
    func ended(isMet: Bool) {}

    /// Stops waiting.
    final func stopWaiting() { place.take()?.leaveSource(cancelling: false) }

    /// Stops waiting, and returns the condition, which the caller releases.
    final func leave() -> TokenCondition? {
        stopWaiting()
        return condition.take()
    }
}

/// A wait for a token, for the sake of a target cell. When the token is cancelled, the watch runs an action with the
/// target. Actions run in the order in which their watches were made.
final class TokenWatch: TokenPlace {
    /// The cell for the action. `nil` when the token can never be cancelled any more, or when the watch has
    /// ended.
    private(set) var target: Cell?
    private let action: (Cell) -> Void
    private let number: UInt64

    init(_ condition: TokenCondition, for target: Cell, _ action: @escaping (Cell) -> Void) {
        self.target = target
        self.action = action
        number = condition.loop.propagation.nextWatch()
        super.init(condition)
    }

    /// Whether only this watch holds the target.
    var isAlone: Bool {
        guard let cell = target?.pointer else { return false }
        target = nil
        defer { target = cell.object }
        return cell.isHeldOnce
    }

    override func ended(isMet: Bool) {
        guard let target else { return }
        if isMet {
            target.loop.propagation.addTokenAction(number) { [action] in action(target) }
        } else {
            self.target = nil
        }
    }

    /// Stops waiting, and releases the target.
    func end() {
        target = nil
        _ = leave()
    }
}

extension Propagation {
    fileprivate func nextWatch() -> UInt64 {
        lastWatch += 1
        return lastWatch
    }

    fileprivate func addTokenAction(_ number: UInt64, _ action: @escaping () -> Void) {
        tokenActions.append((number, action))
        hasWorkLeft = true
    }

    /// Runs the actions for a cancelled token, in order, and then runs what is to run at once.
    func runTokenActions() {
        change {
            while !tokenActions.isEmpty {
                var actions = exchange(&tokenActions, with: [])
                // They come in the order of the tokens, of which one may be made of others.
                if !isInOrder(actions) { actions.sort { $0.number < $1.number } }
                for (_, action) in actions { action() }
            }
        }
    }

    private func isInOrder(_ actions: [(number: UInt64, action: () -> Void)]) -> Bool {
        actions.indices.dropFirst().allSatisfy { actions[$0 - 1].number < actions[$0].number }
    }
}
