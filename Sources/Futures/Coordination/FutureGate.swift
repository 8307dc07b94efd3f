/// A gate that counts the entries that have not left yet. A closed gate lets nobody enter. The future that
/// ``close()`` returned completes when all entries have left.
public final class FutureGate: PermitIssuer {
    public let loop: EventLoop
    private let isDeserted: FutureEvent
    /// The number of entries that have not left yet.
    public private(set) var count = 0
    /// Whether ``close()`` was called.
    public private(set) var isClosed = false

    public init(on loop: EventLoop) {
        self.loop = loop.core
        isDeserted = FutureEvent(on: loop, name: "gate")
    }

    /// Enters the gate. The entry lasts until the permit is released. Throws ``FutureError/closed(_:)`` if the gate
    /// is closed.
    public func enter() throws(FutureError) -> Permit {
        loop.core.checkThread()
        guard !isClosed else { throw .closed("gate") }
        count += 1
        return Permit(self, count: 1)
    }

    /// Runs `body` inside the gate, at once. Leaves the gate when the future that `body` returned has completed.
    ///
    /// If the gate is closed, the returned future fails with ``FutureError/closed(_:)`` and `body` does not run.
    ///
    /// ```swift
    /// let gate = FutureGate(on: loop)
    /// let page = gate.with { fetch("page") }
    /// gate.close().whenSuccess { print("nobody is inside any more") }
    /// ```
    public func with<Value>(_ body: () throws -> Future<Value>) -> Future<Value> {
        do {
            let permit = try enter()
            // If `body` throws, the release of the permit object leaves the gate.
            return try body().onEnd(permit.release)
        } catch {
            return loop.failed(error)
        }
    }

    /// Closes the gate to new entries. The returned future completes when all have left. May be called again.
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
