/// An event for which several callers can wait. After ``set()``, the event stays set until ``reset()`` is
/// called.
///
/// Each call of ``wait(token:)`` returns a separate future. You can cancel that future, or give it a time
/// limit, without affecting the other waits.
public final class FutureEvent {
    private let line: WaitLine<Void>
    public private(set) var isSet = false

    public convenience init(on loop: EventLoop) { self.init(on: loop, name: "event") }

    init(on loop: EventLoop, name: String) { line = WaitLine(on: loop.core, name: name) }

    public var loop: EventLoop { line.loop }

    /// Whether somebody waits.
    var isAwaited: Bool { !line.isEmpty }

    /// Sets the event. Completes all pending waits. Until ``reset()`` is called, later waits complete at
    /// once.
    public func set() {
        loop.core.checkThread()
        isSet = true
        line.succeed()
    }

    /// Clears the event. Waits that begin later are pending until the event is set again.
    public func reset() {
        loop.core.checkThread()
        isSet = false
    }

    /// Completes when the event is set, or at once if it is set already. Fails with
    /// ``FutureError/closed(_:)`` if the event is released before it is set.
    public func wait(token: CancellationToken = .none) -> Future<Void> {
        (isSet ? loop.succeeded() : line.wait()).until(token)
    }
}

extension Future {
    /// Waits until this future has completed and `event` is set. Then passes on the value or the error of
    /// this future. If this future is cancelled, the returned future is cancelled at once, without waiting
    /// for `event`.
    ///
    /// ```swift
    /// let ready = FutureEvent(on: loop)
    /// let page = fetch("page").delay(until: ready)
    /// ready.set()
    /// ```
    public func delay(until event: FutureEvent) -> Future<Value> {
        held { _ in event.wait() }
    }
}
