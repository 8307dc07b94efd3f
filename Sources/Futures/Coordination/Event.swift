/// Something that happens once, or stays set for a while, and that many wait for.
///
/// Each waits with a future of its own, which can be cancelled, or have a time limit, without affecting the others.
public final class FutureEvent {
    private let line: WaitLine<Void>
    public private(set) var isSet = false

    public convenience init(on loop: EventLoop) {
        self.init(on: loop, name: "event")
    }

    init(on loop: EventLoop, name: String) {
        line = WaitLine(on: loop.core, name: name)
    }

    public var loop: EventLoop { line.loop }

    /// Sets the event: completes all waits, now and later, until ``reset()``.
    public func set() {
        loop.core.checkThread()
        isSet = true
        line.succeed()
    }

    /// Clears the event: later waits block again.
    public func reset() {
        loop.core.checkThread()
        isSet = false
    }

    /// Completes when the event is set. Fails with ``FutureError/closed(_:)`` if it is released before.
    public func wait(token: CancellationToken = .none) -> Future<Void> {
        (isSet ? loop.succeeded() : line.wait()).until(token)
    }
}

extension Future {
    /// Holds the outcome back, value or error, until `event` is set. Cancellation passes at once.
    ///
    /// ```swift
    /// let ready = FutureEvent(on: loop)
    /// let page = fetch("page").delay(until: ready)
    /// ready.set()
    /// ```
    public func delay(until event: FutureEvent) -> Future<Value> {
        cell.derive(
            FlatMapResultStep { result in event.wait().map { try result.get() } }, when: [.success, .failure])
    }
}
