/// The controlling side of a cancellation token. Its ``token`` goes to everything that should hear of the cancellation.
///
/// It belongs to the loop that it was made for. A source that is released without having been cancelled never will be
/// cancelled: what waits for its token is released without running. In an optimized build a local variable is released
/// after its last use, not at the end of its scope: keep the source where it is cancelled.
public final class CancellationSource {
    /// Succeeds when the source is cancelled, and is cancelled itself when that will never happen.
    private let signal: Cell
    private let condition: TokenCondition

    public init(on loop: EventLoop) {
        loop.core.checkThread()
        signal = Cell.plain(loop.core, state: .pending, of: Void.self)
        condition = .signal(signal)
    }

    deinit {
        signal.fail(CancellationError())
    }

    /// The token to give to everything that should hear of the cancellation.
    public var token: CancellationToken { CancellationToken(condition) }

    /// Whether ``cancel()`` has been called.
    public var isCancelled: Bool { signal.hasSucceeded }

    /// Cancels the token. First ends all that was registered with it, in order, then queues the handlers.
    ///
    /// Returns `false` and does nothing if it has been cancelled before.
    @discardableResult
    public func cancel() -> Bool {
        guard signal.succeed(()) else { return false }
        signal.loop.propagation.runTokenActions()
        return true
    }
}

@available(
    *, unavailable, message: "A source belongs to its loop's thread; go there with loop.execute { … }."
)
extension CancellationSource: Sendable {}
