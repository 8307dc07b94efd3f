/// Something that happens once, or is so for a while, and that many wait for: each with a future of its own, which
/// can be cancelled, or have a time limit, without a difference for the others.
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

    /// Ends the wait of all who wait, and of all who will, until ``reset()``.
    public func set() {
        loop.core.checkThread()
        isSet = true
        line.succeed()
    }

    /// From now on one waits again.
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
    /// A future with this outcome, whichever it is, but not before `event` is set. Cancellation passes at once.
    public func delay(until event: FutureEvent) -> Future<Value> {
        cell.derive(
            FlatMapResultStep { result in event.wait().map { try result.get() } }, when: [.success, .failure])
    }
}
