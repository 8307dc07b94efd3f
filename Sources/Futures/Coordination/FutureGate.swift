/// A gate that counts the operations inside it. When you close the gate, it refuses new operations. The
/// future that ``close()`` returns completes when all operations have left the gate.
public final class FutureGate: PermitIssuer {
    public let loop: EventLoop
    private let isDeserted: FutureEvent
    /// The number of operations that are inside the gate: they have entered it and have not left it.
    public private(set) var count = 0
    /// Whether ``close()`` was called.
    public private(set) var isClosed = false

    public init(on loop: EventLoop) {
        self.loop = loop.core
        isDeserted = FutureEvent(on: loop, name: "gate")
    }

    /// Enters the gate, and returns a permit. The caller leaves the gate when ``Permit/release()`` is called
    /// or the permit object is released. Throws ``FutureError/closed(_:)`` if the gate is closed.
    public func enter() throws(FutureError) -> Permit {
        loop.core.checkThread()
        guard !isClosed else { throw .closed("gate") }
        count += 1
        return Permit(self, count: 1)
    }

    /// Enters the gate, and runs `body` within this call. Leaves the gate when the future that `body`
    /// returned has completed. The returned future has the same outcome as that future.
    ///
    /// If `body` throws, the returned future fails with that error. If the gate is closed, `body` does not
    /// run, and the returned future fails with ``FutureError/closed(_:)``.
    ///
    /// ```swift
    /// let gate = FutureGate(on: loop)
    /// let page = gate.with { fetch("page") }
    /// gate.close().whenSuccess { print("nobody is inside any more") }
    /// ```
    public func with<Value>(_ body: () throws -> Future<Value>) -> Future<Value> {
        loop.attempt {
            let permit = try enter()
            // If `body` throws, the release of the permit object leaves the gate.
            return try body().given(to: loop.core).onEnd(permit.release)
        }
    }

    /// Closes the gate to new operations. The returned future completes when all operations have left the
    /// gate and the callbacks of their outcomes have run. If you call this function several times, all the returned futures complete at the same time.
    @discardableResult
    public func close() -> Future<Void> {
        loop.core.checkThread()
        isClosed = true
        tellIfDeserted()
        return isDeserted.wait()
    }

    func takeBack(_ count: Int) {
        self.count -= count
        tellIfDeserted()
    }

    private func tellIfDeserted() {
        guard isClosed, count == 0, !isDeserted.isSet else { return }
        loop.core.afterCallbacks { [isDeserted] in isDeserted.set() }
    }
}
