/// Runs a closure within the call that completes or cancels a future, before its consumers run. It is no consumer
/// and does not answer requests.
final class EndHook: Producer {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    override var answersRequests: Bool { false }

    override func settled() { body() }
}

extension Future {
    /// A future with this outcome, after `body` has run: exactly once, at once if this one has completed.
    func onEnd(_ body: @escaping () -> Void) -> Future {
        let child = branch()
        if child.isCompleted { body() } else { child.cell.setProducer(EndHook(body)) }
        return child
    }
}
