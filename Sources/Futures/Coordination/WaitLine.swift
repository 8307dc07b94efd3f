/// A member of a ``WaitLine``: a future that the owner of the line completes. The member is the producer of
/// the future.
///
/// The future retains the member until the future completes. A member that is cancelled or times out leaves
/// the line, and gets no value.
package final class LineWaiter<Payload>: Producer, LineMember {
    let target: Cell
    package let payload: Payload
    package var place: Int?
    fileprivate unowned var line: WaitLine<Payload>?

    fileprivate init(of target: Cell, payload: Payload) {
        (self.target, self.payload) = (target, payload)
        super.init()
    }

    /// Completes the future with `value`, which must have the type of the future's value.
    package func succeed<Value>(_ value: Value) { target.succeed(value) }

    package func fail(_ error: any Error) { target.fail(error) }

    /// Completes the future with `value`. Without one, nothing more comes: fails with `error`, or ends an iteration, or
    /// cancels the future.
    package func complete<Value>(_ value: Value?, failure error: (any Error)? = nil, isIterating: Bool) {
        if let error { return fail(error) }
        if isIterating { return succeed(value) }
        if let value { succeed(value) } else { fail(CancellationError()) }
    }

    /// Leaves the line, if it is in one.
    func leave() { line?.take(self) }

    override var nameInSnapshot: String? { line?.nameInSnapshot }

    override func settled() {
        guard let line else { return }
        self.line = nil
        line.left(self)
    }
}

/// A line of futures that wait, in order. When the line is released, the futures that still wait fail.
package final class WaitLine<Payload> {
    let loop: LoopCore
    private let name: String
    private var waiters = Line<LineWaiter<Payload>>()
    /// Called when a waiter has left the line by itself, since it was cancelled or the loop was shut down.
    package var onDeparture: () -> Void = {}
    /// Says who holds what the line waits for, for a snapshot.
    var holders: () -> String? = { nil }

    package init(on loop: LoopCore, name: String) {
        loop.checkThread()
        self.loop = loop
        self.name = name
    }

    deinit { fail(closedError) }

    var closedError: FutureError { .closed(name) }

    fileprivate var nameInSnapshot: String {
        "\(name) for which \(count) wait\(count == 1 ? "s" : "")" + (holders().map { ", \($0)" } ?? "")
    }

    package var count: Int { waiters.count }
    package var isEmpty: Bool { waiters.isEmpty }
    var first: LineWaiter<Payload>? { waiters.first }

    /// Adds a waiter to the end of the line. Returns its future.
    package func wait<Value>(for _: Value.Type = Value.self, _ payload: Payload) -> Future<Value> {
        loop.checkThread()
        guard !loop.isShutDown else { return loop.failed(FutureError.shutDown) }
        let waiter = append(Cell.plain(loop, state: .pending, of: Value.self), payload)
        waiter.target.belong(to: waiter)
        return Future(waiter.target)
    }

    /// Adds a waiter for `target`. If several lines may complete it, another producer answers for it, and takes the waiter out
    /// of its line.
    func append(_ target: Cell, _ payload: Payload) -> LineWaiter<Payload> {
        let waiter = LineWaiter(of: target, payload: payload)
        waiter.line = self
        waiters.append(waiter)
        return waiter
    }

    package func takeFirst() -> LineWaiter<Payload>? {
        let waiter = waiters.takeFirst()
        waiter?.line = nil
        return waiter
    }

    /// Completes the first waiter with `value`. Skips waiters that have completed. Returns `false` if the
    /// line is empty.
    func give<Value>(_ value: Value) -> Bool {
        while let waiter = takeFirst() {
            if waiter.target.succeed(value) { return true }
        }
        return false
    }

    /// Completes all waiters.
    func succeed() { for waiter in takeAll() { waiter.target.succeed(()) } }

    /// Fails all waiters with `error`.
    func fail(_ error: any Error) { for waiter in takeAll() { waiter.target.fail(error) } }

    /// The waiters, in order.
    package var all: [LineWaiter<Payload>] { waiters.all }

    /// Removes `waiter` from the line. The caller has to complete it.
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
