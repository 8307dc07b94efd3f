/// Counts who is inside, so that one can wait, on the way to the end, until all have left and nobody comes any more.
public final class FutureGate: PermitIssuer {
    public let loop: EventLoop
    private let isDeserted: FutureEvent
    /// How many are inside.
    public private(set) var count = 0
    /// Whether ``close()`` was called.
    public private(set) var isClosed = false

    public init(on loop: EventLoop) {
        self.loop = loop.core
        isDeserted = FutureEvent(on: loop, name: "gate")
    }

    /// Who calls it is inside until the permit is released. Throws ``FutureError/closed(_:)`` if the gate is.
    public func enter() throws(FutureError) -> Permit {
        loop.core.checkThread()
        guard !isClosed else { throw .closed("gate") }
        count += 1
        return Permit(self, count: 1)
    }

    /// Runs `body` inside, at once, until the future that it returns has completed.
    ///
    /// Fails with ``FutureError/closed(_:)``, and does not run it, if the gate is closed.
    public func with<Value>(_ body: () throws -> Future<Value>) -> Future<Value> {
        do {
            let permit = try enter()
            // What `body` throws releases the permit, too.
            return try body().onEnd(permit.release)
        } catch {
            return loop.failed(error)
        }
    }

    /// Lets nobody in any more. Completes when all have left. Can be called again.
    @discardableResult
    public func close() -> Future<Void> {
        loop.core.checkThread()
        isClosed = true
        if count == 0 { isDeserted.set() }
        return isDeserted.wait()
    }

    func takeBack(_ count: Int) {
        self.count -= count
        if isClosed, self.count == 0 { isDeserted.set() }
    }
}
