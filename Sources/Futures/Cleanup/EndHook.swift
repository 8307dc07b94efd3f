/// A hook that runs a closure within the call that completes or cancels a future, before its consumers run. It is not a
/// consumer and does not answer requests. Hooks that end the futures of others are nested a few deep, and then run in a
/// row.
final class EndHook: Producer {
    private unowned let loop: LoopCore
    private let body: () -> Void

    init(on loop: LoopCore, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
    }

    override var answersRequests: Bool { false }

    override func settled() {
        loop.propagation.callEndHook(body)
    }
}

extension Future {
    /// Runs `body` exactly once before the outcome is passed on, or at once if this future has completed.
    func onEnd(_ body: @escaping () -> Void) -> Future {
        let child = branch()
        if child.isCompleted { body() } else { child.cell.setProducer(EndHook(on: loop.core, body)) }
        return child
    }
}
