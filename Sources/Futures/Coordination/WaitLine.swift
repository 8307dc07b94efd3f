/// A future that waits until the keeper of a ``WaitLine`` completes it, and its producer.
///
/// The future owns it until it completes. Completion also takes it out of the line: nothing is given to a waiter that
/// was cancelled or has timed out.
package final class LineWaiter<Payload>: Producer, LineMember {
    let target: Cell
    package let payload: Payload
    var place: Int?
    fileprivate unowned var line: WaitLine<Payload>?

    init<Value>(_ loop: LoopCore, of _: Value.Type, payload: Payload) {
        target = Cell.plain(loop, state: .pending, of: Value.self)
        self.payload = payload
        super.init()
        target.setProducer(self)
        target.failAtShutdown()
    }

    /// Completes the future with `value`, which is of its type.
    package func succeed<Value>(_ value: Value) { target.succeed(value) }

    package func fail(_ error: any Error) { target.fail(error) }

    override func cancellationRequested(by cell: CellPointer) -> Answer { .cancel }

    override func settled() {
        guard let line else { return }
        self.line = nil
        line.left(self)
    }
}

/// Futures that wait for their turn, in order. When the line is released, those that still wait fail.
package final class WaitLine<Payload> {
    let loop: LoopCore
    private let name: String
    private var waiters = Line<LineWaiter<Payload>>()
    /// Called when a waiter has left that was not taken: it was cancelled, or the loop was shut down.
    package var onDeparture: () -> Void = {}

    package init(on loop: LoopCore, name: String) {
        loop.checkThread()
        self.loop = loop
        self.name = name
    }

    deinit { fail(closedError) }

    var closedError: FutureError { .closed(name) }

    var count: Int { waiters.count }
    package var isEmpty: Bool { waiters.isEmpty }
    var first: LineWaiter<Payload>? { waiters.first }

    /// Adds a future to the end of the line.
    package func wait<Value>(for _: Value.Type = Value.self, _ payload: Payload) -> Future<Value> {
        loop.checkThread()
        guard !loop.isShutDown else { return loop.failed(FutureError.shutDown) }
        let waiter = LineWaiter(loop, of: Value.self, payload: payload)
        waiter.line = self
        waiters.append(waiter)
        return Future(waiter.target)
    }

    package func takeFirst() -> LineWaiter<Payload>? {
        let waiter = waiters.takeFirst()
        waiter?.line = nil
        return waiter
    }

    /// Gives `value` to the first waiter that takes it. Returns `false` if nobody does.
    func give<Value>(_ value: Value) -> Bool {
        while let waiter = takeFirst() {
            if waiter.target.succeed(value) { return true }
        }
        return false
    }

    /// Completes all that wait now.
    func succeed() { for waiter in takeAll() { waiter.target.succeed(()) } }

    /// Fails all that wait now.
    func fail(_ error: any Error) { for waiter in takeAll() { waiter.target.fail(error) } }

    /// The waiters, in order.
    package var all: [LineWaiter<Payload>] { waiters.all }

    /// Takes out `waiter`, to be completed by the caller.
    package func take(_ waiter: LineWaiter<Payload>) {
        waiter.line = nil
        waiters.remove(waiter)
    }

    package func takeAll() -> [LineWaiter<Payload>] {
        let all = waiters.takeAll()
        for waiter in all { waiter.line = nil }
        return all
    }

    fileprivate func left(_ waiter: LineWaiter<Payload>) {
        waiters.remove(waiter)
        onDeparture()
    }
}

extension WaitLine where Payload == Void {
    func wait<Value>(for type: Value.Type = Void.self) -> Future<Value> { wait(for: type, ()) }
}
