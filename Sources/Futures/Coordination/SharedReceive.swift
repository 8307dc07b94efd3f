/// The producer of a receive that waits in the lines of several channels.
final class SharedReceive: Producer {
    private let target: Cell
    private var waiters: [LineWaiter<Void>] = []

    init<Element>(_ lines: [WaitLine<Void>], of _: Element.Type, on loop: LoopCore) {
        target = Cell.plain(loop, state: .pending, of: Element.self)
        super.init()
        target.belong(to: self)
        waiters = lines.map { $0.append(target, ()) }
    }

    func future<Element>() -> Future<Element> { Future(target) }

    override func settled() {
        for waiter in exchange(&waiters, with: []) { waiter.leave() }
    }
}
