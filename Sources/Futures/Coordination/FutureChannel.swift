/// A line of elements between those who push and those who pop, each in the order in which they asked.
///
/// When it is full, who pushes waits. An element is never given to somebody who has been cancelled, or whose time
/// limit has passed; a push that is cancelled while it waits does not happen. Waiting requests may have a time
/// limit by `Future.timeout`.
/// When the channel is released all who wait fail with ``FutureError/closed(_:)``.
public final class FutureChannel<Element> {
    /// How many elements may be in the channel that nobody waits for. With zero each send waits for its pop.
    public let capacity: Int
    private var elements = Fifo<Element>()
    private let pushes: WaitLine<Element>
    private let pops: WaitLine<Void>
    /// Why nothing may be pushed any more; `nil` as long as it may.
    public private(set) var closedError: (any Error)?

    /// Traps if `capacity` is negative.
    public init(capacity: Int, on loop: EventLoop) {
        if capacity < 0 { Misuse.size(capacity, of: "A channel", atLeast: 0) }
        self.capacity = capacity
        pushes = WaitLine(on: loop.core, name: "channel")
        pops = WaitLine(on: loop.core, name: "channel")
    }

    public var loop: EventLoop { pops.loop }

    /// How many elements are there to be popped, those of pushes that wait not counted.
    public var count: Int { elements.count }

    public var isClosed: Bool { closedError != nil }

    /// How many pushes wait for room.
    public var waitingSends: Int { pushes.count }

    /// How many pops wait for an element.
    public var waitingReceives: Int { pops.count }

    /// Completes when there is room for `element`, or somebody takes it. Fails with ``closedError``.
    @discardableResult
    public func send(_ element: Element, token: CancellationToken = .none) -> Future<Void> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let closedError { return loop.failed(closedError) }
        return tryPush(element) ? loop.succeeded() : pushes.wait(for: Void.self, element).until(token)
    }

    /// Pushes `element` if that needs no waiting; otherwise, and if the channel is closed, `false`.
    public func tryPush(_ element: Element) -> Bool {
        loop.core.checkThread()
        guard !isClosed else { return false }
        if pops.give(element) { return true }
        guard elements.count < capacity else { return false }
        elements.append(element)
        return true
    }

    /// A future of the next element. Fails with ``closedError`` once that is set and all elements are popped.
    public func receive(token: CancellationToken = .none) -> Future<Element> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let element = tryPop() { return loop.succeeded(element) }
        if let closedError { return loop.failed(closedError) }
        return pops.wait(for: Element.self).until(token)
    }

    /// The next element, if there is one.
    public func tryPop() -> Element? {
        loop.core.checkThread()
        guard let element = elements.takeFirst() else { return takePushed() }
        if let next = takePushed() { elements.append(next) }
        return element
    }

    /// Refuses pushes from now on; pushes that wait still get through. Pops fail with `error`, by default
    /// ``FutureError/closed(_:)``, when all elements are gone.
    public func close(with error: (any Error)? = nil) {
        loop.core.checkThread()
        guard !isClosed else { return }
        let error = error ?? pops.closedError
        closedError = error
        pops.fail(error)
    }

    /// Drops all elements, fails all who wait, and refuses pushes and pops from now on.
    public func abort(with error: any Error) {
        loop.core.checkThread()
        closedError = error
        let dropped = elements
        elements = Fifo()
        withExtendedLifetime(dropped) {
            pushes.fail(error)
            pops.fail(error)
        }
    }

    /// The element of the push that has waited longest, which thereby ends its wait.
    private func takePushed() -> Element? {
        while let push = pushes.takeFirst() {
            if push.target.succeed(()) { return push.payload }
        }
        return nil
    }
}
