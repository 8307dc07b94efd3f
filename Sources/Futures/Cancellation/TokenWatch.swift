/// A wait for the sources of a token, for the sake of a target cell. When the token is cancelled, the watch
/// runs an action with the target.
///
/// The watch adds one cell to the list of each source, and is the producer of these cells. When a source
/// completes, its outcome passes through the cell, so the watch hears of it, in the order of registration. To
/// stop waiting, the watch takes its cells out of the lists, in constant time for each.
final class TokenWatch: Producer {
    /// The cell for the action. `nil` when the token can never be cancelled any more, or when the watch has
    /// ended.
    private(set) var target: Cell?
    private let action: (Cell) -> Void
    private var condition: TokenCondition?
    /// The cells in the lists of the sources.
    private var places: [Cell] = []

    /// Creates a watch for `target`. If `condition` is met already, the watch waits for nothing.
    init(_ condition: TokenCondition, for target: Cell, _ action: @escaping (Cell) -> Void) {
        self.target = target
        self.action = action
        super.init()
        guard !condition.isMet else { return }
        self.condition = condition
        for signal in condition.pendingSignals {
            let place = Cell.plain(signal.loop, state: .pending, of: Void.self)
            place.setProducer(self)
            places.append(place)
            signal.register(place, when: [])
        }
    }

    /// Hears that one of the sources has been cancelled, or was released without having been cancelled.
    override func settled() {
        guard let condition, let target else { return }
        if condition.isMet {
            leave()
            condition.loop.propagation.addTokenAction { [action] in action(target) }
        } else if !condition.canBeMet {
            end()
        }
    }

    /// Whether only this watch holds the target.
    var isAlone: Bool {
        guard let cell = target?.pointer else { return false }
        target = nil
        defer { target = cell.object }
        return cell.isHeldOnce
    }

    /// Stops waiting, and releases the target.
    func end() {
        target = nil
        leave()
    }

    /// Takes the cells of this watch out of the lists of the sources.
    private func leave() {
        let places = places
        self.places = []
        condition = nil
        for place in places { place.leaveSource(cancelling: false) }
    }
}

extension Propagation {
    fileprivate func addTokenAction(_ action: @escaping () -> Void) {
        tokenActions.append(action)
        hasWorkLeft = true
    }

    /// Runs the actions for a cancelled token, in order, and then runs what is to run at once.
    func runTokenActions() {
        asOneChange {
            while !tokenActions.isEmpty {
                let actions = tokenActions
                tokenActions = []
                for action in actions { action() }
            }
        }
        finishChange()
    }
}
