/// A producer that runs a closure within the call that completes or cancels a future. The closure runs before
/// the consumers of the future run.
///
/// A hook does not answer requests to cancel. If a hook ends another future that has a hook, the calls of the
/// two hooks are nested. At most ``CancelOptions/depthLimit`` calls are nested. Deeper ones run one after the
/// other.
final class EndHook: Producer {
    private unowned let loop: LoopCore
    private let body: () -> Void

    init(on loop: LoopCore, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
    }

    override var answersRequests: Bool { false }

    override func settled() { loop.propagation.callEndHook(body) }
}

extension Future {
    /// Runs `body` once when this future ends, before the returned future passes the outcome on. If this
    /// future has completed already, runs `body` at once.
    func onEnd(_ body: @escaping () -> Void) -> Future {
        let child = branch()
        if child.isCompleted { body() } else { child.cell.setProducer(EndHook(on: loop.core, body)) }
        return child
    }
}
