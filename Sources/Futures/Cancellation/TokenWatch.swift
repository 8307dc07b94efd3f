/// A wait for the sources of a token on behalf of a cell. It does something to the cell when the token is cancelled.
///
/// It is the producer of one cell in the list of each source. The outcome of the source passes through that cell: that
/// is how the watch hears of the source, in order, and how it leaves in constant time.
final class TokenWatch: Producer {
    /// The cell that is acted on. Released when the token never will be cancelled, or nobody is interested any more.
    private(set) var target: Cell?
    private let action: (Cell) -> Void
    private var condition: TokenCondition?
    private var places: [Cell] = []

    /// Waits for nothing if the token has been cancelled.
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

    /// Called when one of the sources has been cancelled, or never will be.
    override func settled() {
        guard let condition, let target else { return }
        if condition.isMet {
            leave()
            condition.loop.propagation.addTokenAction { [action] in action(target) }
        } else if !condition.canBeMet {
            end()
        }
    }

    /// Whether nobody else holds the target.
    var isAlone: Bool {
        guard let cell = target?.pointer else { return false }
        target = nil
        defer { target = cell.object }
        return cell.isHeldOnce
    }

    /// Stops waiting.
    func end() {
        target = nil
        leave()
    }

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
