/// A line of elements between those that send and those that receive, each in the order in which they asked.
///
/// When the channel is full, a send waits. An element never goes to a receive that has been cancelled, or has timed out.
/// A send that is cancelled while it waits does not happen. `Future.timeout` limits the time of a waiting request.
/// When the channel is released, everything that waits fails with ``FutureError/closed(_:)``.
public final class FutureChannel<Element> {
    /// The number of elements that may be in the channel while nobody waits for them. With zero each send waits for
    /// its receive.
    public let capacity: Int
    private var elements = Fifo<Element>()
    private let sends: WaitLine<Element>
    private let receives: WaitLine<Void>
    /// The reason why nothing may be sent any more; `nil` as long as sending is allowed.
    public private(set) var closedError: (any Error)?

    /// Creates a channel for `capacity` elements. Traps if `capacity` is negative.
    public init(capacity: Int, on loop: EventLoop) {
        if capacity < 0 { Misuse.size(capacity, of: "A channel", atLeast: 0) }
        self.capacity = capacity
        sends = WaitLine(on: loop.core, name: "channel")
        receives = WaitLine(on: loop.core, name: "channel")
    }

    public var loop: EventLoop { receives.loop }

    /// The number of elements to be received. Elements of sends that wait do not count.
    public var count: Int { elements.count }

    public var isClosed: Bool { closedError != nil }

    /// The number of sends that wait for room.
    public var waitingSends: Int { sends.count }

    /// The number of receives that wait for an element.
    public var waitingReceives: Int { receives.count }

    /// Sends `element`, and completes when there is room for it, or somebody takes it. Fails with ``closedError``.
    ///
    /// ```swift
    /// let pages = FutureChannel<Data>(capacity: 8, on: loop)
    /// for name in names { try await pages.send(load(name)).value }
    /// pages.close()
    /// ```
    @discardableResult
    public func send(_ element: Element, token: CancellationToken = .none) -> Future<Void> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let closedError { return loop.failed(closedError) }
        return trySend(element) ? loop.succeeded() : sends.wait(for: Void.self, element).until(token)
    }

    /// Sends `element` if that needs no waiting. Returns `false` if it does, or if the channel is closed.
    public func trySend(_ element: Element) -> Bool {
        loop.core.checkThread()
        guard !isClosed else { return false }
        if receives.give(element) { return true }
        guard elements.count < capacity else { return false }
        elements.append(element)
        return true
    }

    /// Completes with the next element. Fails with ``closedError`` once that is set and all elements are received.
    public func receive(token: CancellationToken = .none) -> Future<Element> {
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        if let element = tryReceive() { return loop.succeeded(element) }
        if let closedError { return loop.failed(closedError) }
        return receives.wait(for: Element.self).until(token)
    }

    /// Takes the next element, if there is one.
    public func tryReceive() -> Element? {
        loop.core.checkThread()
        guard let element = elements.takeFirst() else { return takePushed() }
        if let next = takePushed() { elements.append(next) }
        return element
    }

    /// Refuses sends from now on. Sends that wait still get through. Receives fail with `error`, by default
    /// ``FutureError/closed(_:)``, when all elements are gone.
    public func close(with error: (any Error)? = nil) {
        loop.core.checkThread()
        guard !isClosed else { return }
        let error = error ?? receives.closedError
        closedError = error
        receives.fail(error)
    }

    /// Drops all elements, fails everything that waits, and refuses sends and receives from now on.
    public func abort(with error: any Error) {
        loop.core.checkThread()
        closedError = error
        let dropped = elements
        elements = Fifo()
        withExtendedLifetime(dropped) {
            sends.fail(error)
            receives.fail(error)
        }
    }

    /// Takes the element of the send that has waited longest, and ends its wait.
    private func takePushed() -> Element? {
        while let send = sends.takeFirst() {
            if send.target.succeed(()) { return send.payload }
        }
        return nil
    }
}
