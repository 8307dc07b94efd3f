extension EventLoop {
    /// A function that calls `body` when `pause` has passed since it was last called, with what it was then given.
    ///
    /// Traps if `pause` is negative.
    public func debounce<Input>(
        for pause: Duration, _ body: @escaping (Input) -> Void
    ) -> PacedCall<Input> {
        PacedCall(on: self, interval: pause, isPutOff: true, body)
    }

    /// A function that calls `body` at once, but at most every `interval`: what comes too early waits, and only the
    /// last of that is called.
    ///
    /// Traps if `interval` is negative.
    public func throttle<Input>(
        every interval: Duration, _ body: @escaping (Input) -> Void
    ) -> PacedCall<Input> {
        PacedCall(on: self, interval: interval, isPutOff: false, body)
    }
}

/// A function that makes fewer calls than it gets, as ``EventLoop/debounce(for:_:)`` or
/// ``EventLoop/throttle(every:_:)`` says.
///
/// Calls are made from the loop, never inside the call that asks for them. One that waits is made although this is
/// released, and keeps ``EventLoop/run()`` from returning until then; it is dropped when the loop is shut down.
public final class PacedCall<Input> {
    public let loop: EventLoop
    private let interval: Duration
    /// Whether each call puts off the one that waits.
    private let isPutOff: Bool
    private let body: (Input) -> Void
    private var waiting: (input: Input, timer: ScheduledTask<Void>)?
    /// Before this no call is made that is not to be put off.
    private var earliest: LoopInstant

    fileprivate init(
        on loop: EventLoop, interval: Duration, isPutOff: Bool, _ body: @escaping (Input) -> Void
    ) {
        loop.core.checkThread()
        if interval < .zero { Misuse.sentence("\(FutureError.negativeDuration(interval))") }
        self.loop = loop.core
        self.interval = interval
        self.isPutOff = isPutOff
        self.body = body
        earliest = loop.now
    }

    /// Whether a call waits for its time.
    public var isWaiting: Bool { waiting != nil }

    /// Asks for a call with `input`, which takes the place of one that waits.
    public func callAsFunction(_ input: Input) {
        loop.core.checkThread()
        guard !loop.core.isShutDown else { return }
        if isPutOff {
            cancel()
            wait(until: loop.now.advanced(by: interval), with: input)
        } else if waiting != nil {
            waiting?.input = input
        } else if loop.now < earliest {
            wait(until: earliest, with: input)
        } else {
            call(input)
        }
    }

    /// Makes the call that waits now: later in this turn. `false` if none does.
    @discardableResult
    public func flush() -> Bool {
        guard let input = waiting?.input, cancel() else { return false }
        call(input)
        return true
    }

    /// Drops the call that waits. `false` if none does.
    @discardableResult
    public func cancel() -> Bool {
        loop.core.checkThread()
        let cancelled = waiting
        waiting = nil
        return cancelled?.timer.cancel() ?? false
    }

    private func wait(until instant: LoopInstant, with input: Input) {
        let timer = loop.schedule(at: instant) { [self] in
            guard let input = waiting.take()?.input else { return }
            earliest = loop.now.advanced(by: interval)
            body(input)
        }
        waiting = (input, timer)
    }

    private func call(_ input: Input) {
        earliest = loop.now.advanced(by: interval)
        loop.core.enqueue { [body] in body(input) }
    }
}

extension PacedCall where Input == Void {
    /// Asks for a call.
    public func callAsFunction() { callAsFunction(()) }
}

@available(
    *, unavailable, message: "It belongs to its loop's thread; go there with loop.execute { … }."
)
extension PacedCall: Sendable {}
