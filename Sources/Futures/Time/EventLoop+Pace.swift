extension EventLoop {
    /// Returns a function that delays `body` while calls come in quick succession. When `pause` has passed
    /// without a call of the function, the loop calls `body` once, with the input of the last call.
    ///
    /// Traps if `pause` is negative.
    ///
    /// ```swift
    /// let search = loop.debounce(for: .milliseconds(300)) { fetch($0).whenSuccess { print($0.count) } }
    /// search("f")
    /// search("fu")    // Fetches this one.
    /// ```
    public func debounce<Input>(for pause: Duration, _ body: @escaping (Input) -> Void) -> PacedCall<Input> {
        PacedCall(on: self, interval: pause, isPutOff: true, body)
    }

    /// Returns a function that calls `body` at most once in every `interval`. If `interval` has passed since
    /// the last call of `body`, the loop calls `body` with a new input without a delay. Otherwise the input
    /// waits until `interval` has passed. A later input replaces an input that waits.
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

/// A function that delays or drops calls of its body. The body is the closure that you gave to
/// ``EventLoop/debounce(for:_:)`` or ``EventLoop/throttle(every:_:)``.
///
/// The loop calls the body later, never inside a call of this function. If a call of the body waits, the loop
/// makes that call even if this object is released. A waiting call keeps ``EventLoop/run()`` from returning.
/// When the loop is shut down, the waiting call is dropped.
public final class PacedCall<Input> {
    public let loop: EventLoop
    private let interval: Duration
    /// Whether each call starts the wait again.
    private let isPutOff: Bool
    private let body: (Input) -> Void
    private var waiting: (input: Input, timer: ScheduledTask<Void>)?
    /// The earliest time for the next call of the body. Used only if calls do not start the wait again.
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

    /// Whether a call of the body waits for its time.
    public var isWaiting: Bool { waiting != nil }

    /// Requests a call of the body with `input`. If a call waits already, that call gets `input` in place of
    /// the earlier input.
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

    /// Ends the wait of the waiting call of the body: the loop makes that call later in the same turn.
    /// Returns `false` if no call waits.
    @discardableResult
    public func flush() -> Bool {
        let input = waiting?.input
        guard cancel(), let input else { return false }
        call(input)
        return true
    }

    /// Drops the waiting call of the body. Returns `false` if no call waits.
    @discardableResult
    public func cancel() -> Bool {
        loop.core.checkThread()
        return waiting.take()?.timer.cancel() ?? false
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
        loop.later { [body] in body(input) }
    }
}

extension PacedCall where Input == Void {
    /// Requests a call of the body.
    public func callAsFunction() { callAsFunction(()) }
}

@available(*, unavailable, message: "It belongs to its loop's thread; go there with loop.execute { … }.")
extension PacedCall: Sendable {}
