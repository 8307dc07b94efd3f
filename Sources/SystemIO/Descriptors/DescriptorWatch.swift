public import Futures

extension EventLoop {
    /// Creates a watch for a descriptor that other code owns, reads and writes, for example a socket of a C
    /// library.
    ///
    /// Keep the descriptor open until the watch is closed. If other code closes it earlier, all pending waits fail, at
    /// the latest when this loop reuses the number for a new object, which is not disturbed. The watch does not change
    /// the mode of the descriptor, blocking or non-blocking. A stream of this library needs no watch. A descriptor can
    /// have only one watch on each loop.
    ///
    /// Throws ``Futures/FutureError/invalidArgument(_:)`` if the descriptor is not open, is watched already, or
    /// belongs to a connection, a listener or a socket of this library. Throws the same error for a file or a
    /// directory, because the system cannot wait for those.
    ///
    /// ```swift
    /// let watch = try loop.watch(descriptor: STDIN_FILENO)
    /// watch.readable.whenSuccess { print(FileHandle.standardInput.availableData.count) }
    /// ```
    ///
    /// Binds [`uv_poll_init`](https://docs.libuv.org/en/v1.x/poll.html).
    public func watch(descriptor: CInt) throws -> DescriptorWatch {
        DescriptorWatch(try descriptorSystem().watch(descriptor))
    }
}

/// A watch that reports when a descriptor is ready for a read or a write. The watch itself does not read or write
/// the descriptor. It reports a ready descriptor again and again, until other code reads or writes the
/// descriptor.
///
/// While code waits for an event of the watch, the watch stays alive and keeps ``Futures/EventLoop/run()`` from
/// returning. When no code waits, releasing the last reference closes the watch.
public final class DescriptorWatch {
    public var loop: EventLoop { core }
    let core: LoopCore
    public let descriptor: CInt
    private let poll: any DescriptorPoll
    private let closedPromise: Promise<Void>
    private typealias Wait = (events: DescriptorEvents, isIterating: Bool)
    /// The callers that wait for at least one of `events`. `isIterating` is `true` for a caller of ``events(_:)``, and
    /// `false` for a caller of ``next(_:)``.
    private let waits: WaitLine<Wait>
    /// The iterations whose tasks wait without a future.
    private var askers: [EventAsker] = []
    private var closure: (events: DescriptorEvents, body: (DescriptorEvents) -> Void)?
    /// The watch itself while something waits for an event, or else `nil`. This keeps the watch alive.
    private var hold: DescriptorWatch?
    private var isDelivering = false

    init(_ poll: any DescriptorPoll) {
        core = poll.loop
        descriptor = poll.descriptor
        self.poll = poll
        waits = WaitLine(on: poll.loop, name: "watch")
        closedPromise = poll.loop.makeSharedPromise()
        waits.onDeparture = { [unowned self] in update() }
        poll.onEvents = { [unowned self] in deliver($0) }
        poll.onLoss = { [unowned self] in end(because: $0) }
        poll.onClose = { [weak self, closedPromise] in
            self?.end()
            closedPromise.completeLast()
        }
    }

    deinit {
        if poll.isClosing { return }
        core.checkThread()
        poll.closeWatch()
    }

    // MARK: Futures

    /// Completes when at least one of `events` occurs. The value holds those of `events` that occurred, and
    /// possibly ``DescriptorEvents/failed``. Several calls may wait at the same time.
    ///
    /// When the watch is closed, the returned future is cancelled. Fails with
    /// ``Futures/FutureError/invalidArgument(_:)`` if `events` is empty, or if the watch finds that the
    /// descriptor has been closed.
    /// Binds [`uv_poll_start`](https://docs.libuv.org/en/v1.x/poll.html).
    public func next(_ events: DescriptorEvents) -> Future<DescriptorEvents> {
        wait(for: events, isIterating: false, atEnd: loop.failed(CancellationError()))
    }

    /// Completes when a read does not have to wait. Fails with the errors of ``next(_:)``.
    public var readable: Future<Void> { next(.readable).asVoid() }

    /// Completes when a write does not have to wait. Fails with the errors of ``next(_:)``.
    public var writable: Future<Void> { next(.writable).asVoid() }

    /// Completes when the peer has finished sending or has disconnected. Fails with the errors of
    /// ``next(_:)``.
    public var disconnected: Future<Void> { next(.disconnected).asVoid() }

    /// Returns a sequence of the events that occur. Use it in a loop such as `for try await events in
    /// watch.events([.readable, .writable])`. Each element holds those of `events` that occurred, and
    /// possibly ``DescriptorEvents/failed``. The sequence ends when the watch is closed. The iteration throws
    /// the errors of ``next(_:)``.
    ///
    /// Read or write the descriptor before you ask for the next element. Otherwise the same events are reported
    /// again at once.
    public func events(_ events: DescriptorEvents) -> LoopSequence<DescriptorEvents> {
        LoopSequence(on: loop) { [self] in
            .init(
                asking: EventAsker(self, events.intersection(.all)), on: core,
                next: { self.wait(for: events, isIterating: true, atEnd: self.loop.succeeded(nil)) })
        }
    }

    private func wait<Value>(
        for events: DescriptorEvents, isIterating: Bool, atEnd: @autoclosure () -> Future<Value>
    ) -> Future<Value> {
        core.checkThread()
        let events = events.intersection(.all)
        guard !events.isEmpty else {
            return loop.failed(
                FutureError.invalidArgument(
                    "there is no event to wait for; give readable, writable or others"))
        }
        if let loss = poll.loss { return loop.failed(loss) }
        guard !poll.isClosing else { return atEnd() }
        let future = waits.wait(for: Value.self, (events, isIterating))
        update()
        return future
    }

    /// Adds an iteration that waits. Returns `false` if a future has to report the end or an error.
    func add(_ asker: EventAsker) -> Bool {
        guard !asker.events.isEmpty, poll.loss == nil, !poll.isClosing, !core.isShutDown else { return false }
        askers.append(asker)
        update()
        return true
    }

    func remove(_ asker: EventAsker) {
        askers.removeAll { $0 === asker }
        update()
    }

    // MARK: A closure

    /// Calls `body` each time that at least one of `events` occurs. `body` gets those of `events` that occurred,
    /// and possibly ``DescriptorEvents/failed``. The calls end when the watch is closed. Another call of this
    /// function replaces `body`. To stop the calls, call this function with no events.
    ///
    /// After `body` has been called with `failed`, the watch does not call `body` again. To continue, call
    /// `onEvents` again. The watch also calls `body` with `failed` if it finds that the descriptor has been
    /// closed.
    public func onEvents(_ events: DescriptorEvents, _ body: @escaping (DescriptorEvents) -> Void) {
        core.checkThread()
        let events = events.intersection(.all)
        let body = core.carrying(body)
        if poll.loss != nil, !events.isEmpty { return loop.later { body(.failed) } }
        guard !poll.isClosing else { return }
        let former = exchange(&closure, with: events.isEmpty ? nil : (events, body))
        update()
        withExtendedLifetime(former) {}
    }

    // MARK: What happens

    private func deliver(_ events: DescriptorEvents) {
        isDelivering = true
        let hasFailed = events.contains(.failed)
        let isReady = { (wanted: DescriptorEvents) in hasFailed || !wanted.isDisjoint(with: events) }
        let ready = waits.all.filter { isReady($0.payload.events) }
        for wait in ready { waits.take(wait) }
        let answered = askers.filter { isReady($0.events) }
        askers.removeAll { isReady($0.events) }
        let closure = closure
        if hasFailed { self.closure = nil }
        // Callers ask for the next events within this turn. The system is told after the turn, and only once.
        core.turn {
            for wait in ready {
                wait.complete(
                    events.intersection(wait.payload.events.union(.failed)),
                    isIterating: wait.payload.isIterating)
            }
            for asker in answered { asker.deliver(events.intersection(asker.events.union(.failed))) }
            if let closure, isReady(closure.events) {
                closure.body(events.intersection(closure.events.union(.failed)))
            }
        }
        isDelivering = false
        update()
    }

    /// Ends everything that waits: because of `error` if the descriptor has been closed or refers to another file, and
    /// otherwise because the watch has been closed.
    private func end(because error: (any Error)? = nil) {
        let (waits, askers, closure) = (waits.takeAll(), askers, closure)
        (self.askers, self.closure) = ([], nil)
        for wait in waits {
            wait.complete(
                DescriptorEvents?.none, failure: error, isIterating: wait.payload.isIterating)
        }
        for asker in askers { asker.end(because: error) }
        if let closure, error != nil { core.later { closure.body(.failed) } }
        hold = nil
        withExtendedLifetime(closure) {}
    }

    private func update() {
        guard !isDelivering, !poll.isClosing else { return }
        let wanted = waits.all.map(\.payload.events) + askers.map(\.events)
        let interest = wanted.reduce(closure?.events ?? []) { $0.union($1) }
        // Done last, because it may release the last reference to the watch.
        defer { hold = interest.isEmpty ? nil : self }
        poll.setInterest(interest)
    }

    /// Closes the watch, and completes when the watch is closed. Cancels all futures that wait for an event.
    /// The descriptor stays open.
    @discardableResult
    public func close() -> Future<Void> {
        core.checkThread()
        poll.closeWatch()
        end()
        return closedPromise.future
    }
}

@available(*, unavailable, message: "A watch belongs to its loop's thread; go there with loop.execute { … }.")
extension DescriptorWatch: Sendable {}

extension DescriptorWatch: ScopeMember {
    /// The membership of this watch in a scope, as a resource: ends by ``close()``.
    public var membership: ScopeMembership {
        ScopeMembership(
            ended: closedPromise.future, cancel: { self.close() }, release: { self.close() })
    }
}
