/// A channel that passes elements from senders to receivers. Senders are served in the order in
/// which they called, and so are receivers.
///
/// When the channel is full, a send waits. If a send is cancelled while it waits, its element is not sent. If
/// a receive is cancelled or times out, it takes no element out of the channel. To limit the time for which a
/// send or a receive waits, use `Future.timeout` on its future. When the channel is released, all sends and
/// receives that wait fail with ``FutureError/closed(_:)``.
///
/// A receive that has completed has taken its element. So of two receives in a `Future.race`, both may take one, and that of the
/// loser is lost: wait for several channels with ``receive(fromAny:on:token:)``, which takes one.
public final class FutureChannel<Element> {
    /// The largest number of elements that the channel stores while no receive waits for them. If the
    /// capacity is zero, each send waits until a receive takes its element.
    public let capacity: Int
    private var elements = Fifo<Element>()
    private let sends: WaitLine<Element>
    private let receives: WaitLine<Void>
    /// The error with which sends fail after the channel was closed, or `nil` as long as the channel is open.
    public private(set) var closedError: (any Error)?

    /// Creates a channel that stores up to `capacity` elements. Traps if `capacity` is negative.
    public init(capacity: Int, on loop: EventLoop) {
        if capacity < 0 { Misuse.size(capacity, of: "A channel's capacity", atLeast: 0) }
        self.capacity = capacity
        sends = WaitLine(on: loop.core, name: "channel")
        receives = WaitLine(on: loop.core, name: "channel")
    }

    public var loop: EventLoop { receives.loop }

    /// The number of elements that the channel stores. The elements of waiting sends do not count.
    public var count: Int { elements.count }

    public var isClosed: Bool { closedError != nil }

    /// The number of sends that wait because the channel is full.
    public var waitingSends: Int { sends.count }

    /// The number of receives that wait for an element.
    public var waitingReceives: Int { receives.count }

    /// Sends `element`. The returned future completes when the channel has stored `element`, or when a
    /// receive has taken `element`. Fails with ``closedError`` if the channel is closed.
    ///
    /// ```swift
    /// let pages = FutureChannel<Data>(capacity: 8, on: loop)
    /// for name in names { try await pages.send(load(name)).value }
    /// pages.close()
    /// ```
    @discardableResult
    public func send(_ element: Element, token: CancellationToken = .none) -> Future<Void> {
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        if let closedError { return loop.failed(closedError) }
        return trySend(element) ? loop.succeeded() : sends.wait(for: Void.self, element).until(token)
    }

    /// Sends `element` if that is possible without waiting, and returns `true`. Returns `false`, and sends
    /// nothing, if the channel is full and no receive waits, or if the channel is closed.
    public func trySend(_ element: Element) -> Bool {
        loop.core.checkThread()
        guard !isClosed else { return false }
        if receives.give(element) { return true }
        guard elements.count < capacity else { return false }
        elements.append(element)
        return true
    }

    /// Receives an element. The returned future completes with the next element. Fails with ``closedError``
    /// if the channel is closed and all elements have been received.
    public func receive(token: CancellationToken = .none) -> Future<Element> {
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        if let element = tryReceive() { return loop.succeeded(element) }
        if let closedError { return loop.failed(closedError) }
        return receives.wait(for: Element.self).until(token)
    }

    /// Receives one element, from the first of `channels` that has one. Fails with ``closedError`` of the first that is closed
    /// and has none left.
    ///
    /// If `channels` is empty, fails with ``FutureError/invalidArgument(_:)``. Traps if a channel belongs to another loop than
    /// `loop`.
    ///
    /// ```swift
    /// let (urgent, others) = (FutureChannel<String>(capacity: 8, on: loop), FutureChannel<String>(capacity: 8, on: loop))
    /// let next = FutureChannel.receive(fromAny: [urgent, others], on: loop)
    /// ```
    public static func receive(
        fromAny channels: [FutureChannel], on loop: EventLoop, token: CancellationToken = .none
    ) -> Future<Element> {
        let core = loop.core
        core.checkThread()
        for channel in channels where channel.loop.core !== core {
            trap("receive(fromAny:) was given a channel of another loop. Give channels of one loop.")
        }
        guard !channels.isEmpty else {
            return core.failed(
                FutureError.invalidArgument("receive(fromAny:) was given no channel; give one or more"))
        }
        guard !token.isCancelled(on: core) else { return core.failed(CancellationError()) }
        for channel in channels {
            if let element = channel.tryReceive() { return core.succeeded(element) }
            if let error = channel.closedError { return core.failed(error) }
        }
        guard !core.isShutDown else { return core.failed(FutureError.shutDown) }
        return SharedReceive(channels.map(\.receives), of: Element.self, on: core).future().until(token)
    }

    /// Returns the next element, and removes it from the channel. Returns `nil` if the channel has no element
    /// now.
    public func tryReceive() -> Element? {
        loop.core.checkThread()
        guard let element = elements.takeFirst() else { return takePushed() }
        if let next = takePushed() { elements.append(next) }
        return element
    }

    /// Closes the channel. The channel refuses later sends. Sends that are waiting at the time of this call
    /// can still deliver their elements. When all elements have been received, receives fail with `error`, or
    /// with ``FutureError/closed(_:)`` if `error` is `nil`. Does nothing if the channel is closed already.
    public func close(with error: (any Error)? = nil) {
        loop.core.checkThread()
        guard !isClosed else { return }
        let error = error ?? receives.closedError
        closedError = error
        receives.fail(error)
    }

    /// Closes the channel at once. Drops all elements. All sends and receives that wait fail with `error`.
    /// Later sends and receives also fail with `error`.
    public func abort(with error: any Error) {
        loop.core.checkThread()
        let dropped = (exchange(&closedError, with: error), exchange(&elements, with: Fifo()))
        sends.fail(error)
        receives.fail(error)
        withExtendedLifetime(dropped) {}
    }

    /// Takes the element of the send that has waited longest, and completes that send.
    private func takePushed() -> Element? {
        while let send = sends.takeFirst() {
            if send.target.succeed(()) { return send.payload }
        }
        return nil
    }
}
