/// A line of elements between those that push and those that pop, each in the order in which they asked.
///
/// When the channel is full, a push waits. An element never goes to a pop that has been cancelled, or has timed out.
/// A push that is cancelled while it waits does not happen. `Future.timeout` limits the time of a waiting request.
/// When the channel is released, everything that waits fails with ``FutureError/closed(_:)``.
public final class FutureChannel<Element> {
    /// The number of elements that may be in the channel while nobody waits for them. With zero each send waits for
    /// its pop.
    public let capacity: Int
    private var elements = Fifo<Element>()
    private let pushes: WaitLine<Element>
    private let pops: WaitLine<Void>
    /// The reason why nothing may be pushed any more; `nil` as long as pushing is allowed.
    public private(set) var closedError: (any Error)?

    /// Creates a channel for `capacity` elements. Traps if `capacity` is negative.
    public init(capacity: Int, on loop: EventLoop) {
        if capacity < 0 { Misuse.size(capacity, of: "A channel", atLeast: 0) }
        self.capacity = capacity
        pushes = WaitLine(on: loop.core, name: "channel")
        pops = WaitLine(on: loop.core, name: "channel")
    }

    public var loop: EventLoop { pops.loop }

    /// The number of elements to be popped. Elements of pushes that wait do not count.
    public var count: Int { elements.count }

    public var isClosed: Bool { closedError != nil }

    /// The number of pushes that wait for room.
    public var waitingSends: Int { pushes.count }

    /// The number of pops that wait for an element.
    public var waitingReceives: Int { pops.count }

    /// Pushes `element`, and completes when there is room for it, or somebody takes it. Fails with ``closedError``.
    @discardableResult
    public func send(_ element: Element, token: CancellationToken = .none) -> Future<Void> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let closedError { return loop.failed(closedError) }
        return tryPush(element) ? loop.succeeded() : pushes.wait(for: Void.self, element).until(token)
    }

    /// Pushes `element` if that needs no waiting. Returns `false` if it does, or if the channel is closed.
    public func tryPush(_ element: Element) -> Bool {
        loop.core.checkThread()
        guard !isClosed else { return false }
        if pops.give(element) { return true }
        guard elements.count < capacity else { return false }
        elements.append(element)
        return true
    }

    /// Completes with the next element. Fails with ``closedError`` once that is set and all elements are popped.
    public func receive(token: CancellationToken = .none) -> Future<Element> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let element = tryPop() { return loop.succeeded(element) }
        if let closedError { return loop.failed(closedError) }
        return pops.wait(for: Element.self).until(token)
    }

    /// Takes the next element, if there is one.
    public func tryPop() -> Element? {
        loop.core.checkThread()
        guard let element = elements.takeFirst() else { return takePushed() }
        if let next = takePushed() { elements.append(next) }
        return element
    }

    /// Refuses pushes from now on. Pushes that wait still get through. Pops fail with `error`, by default
    /// ``FutureError/closed(_:)``, when all elements are gone.
    public func close(with error: (any Error)? = nil) {
        loop.core.checkThread()
        guard !isClosed else { return }
        let error = error ?? pops.closedError
        closedError = error
        pops.fail(error)
    }

    /// Drops all elements, fails everything that waits, and refuses pushes and pops from now on.
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

    /// Takes the element of the push that has waited longest, and ends its wait.
    private func takePushed() -> Element? {
        while let push = pushes.takeFirst() {
            if push.target.succeed(()) { return push.payload }
        }
        return nil
    }
}
