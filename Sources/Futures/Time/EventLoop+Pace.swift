extension EventLoop {
    /// Returns a function that calls `body` with its last input when `pause` has passed since it was last called.
    ///
    /// Traps if `pause` is negative.
    ///
    /// ```swift
    /// let search = loop.debounce(for: .milliseconds(300)) { fetch($0).whenSuccess { print($0.count) } }
    /// search("f")
    /// search("fu")    // Fetches this one.
    /// ```
    public func debounce<Input>(
        for pause: Duration, _ body: @escaping (Input) -> Void
    ) -> PacedCall<Input> {
        PacedCall(on: self, interval: pause, isPutOff: true, body)
    }

    /// Returns a function that calls `body` at once, but at most every `interval`. Inputs that come too early wait,
    /// and `body` gets only the last of them.
    ///
    /// Traps if `interval` is negative.
    ///
    /// ```swift
    /// let report = loop.throttle(every: .seconds(1)) { (percent: Int) in print("\(percent) % done") }
    /// for percent in 0...100 { report(percent) }    // Prints 0, and 100 a second later.
    /// ```
    public func throttle<Input>(
        every interval: Duration, _ body: @escaping (Input) -> Void
    ) -> PacedCall<Input> {
        PacedCall(on: self, interval: interval, isPutOff: false, body)
    }
}

/// A function that makes fewer calls than it gets, as ``EventLoop/debounce(for:_:)`` or
/// ``EventLoop/throttle(every:_:)`` says.
///
/// Calls are made from the loop, never inside the call that asks for them. A waiting call is made even if this object
/// is released, and keeps ``EventLoop/run()`` from returning until then. It is dropped when the loop is shut down.
public final class PacedCall<Input> {
    public let loop: EventLoop
    private let interval: Duration
    /// Whether each call puts off the waiting one.
    private let isPutOff: Bool
    private let body: (Input) -> Void
    private var waiting: (input: Input, timer: ScheduledTask<Void>)?
    /// The earliest time for a call that is not to be put off.
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

    /// Asks for a call with `input`, which replaces a waiting call.
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

    /// Makes the waiting call now: later in this turn. Returns `false` if no call waits.
    @discardableResult
    public func flush() -> Bool {
        guard let input = waiting?.input, cancel() else { return false }
        call(input)
        return true
    }

    /// Drops the waiting call. Returns `false` if no call waits.
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
