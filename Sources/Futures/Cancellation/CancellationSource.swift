/// The object that cancels a ``CancellationToken``. Give the ``token`` of a source to every operation that
/// the source is to cancel.
///
/// A source belongs to the loop that it was made for. If a source is released and ``cancel()`` has not been
/// called, its token is never cancelled. The handlers that wait for the token are then released without
/// running.
///
/// In an optimized build, the object in a local variable is released after the last use of the variable, not
/// at the end of the scope. Therefore store the source in the object that is going to call ``cancel()``.
public final class CancellationSource {
    /// A cell that succeeds when the source is cancelled. If the source is released before, the cell is
    /// cancelled.
    private let signal: Cell
    private let condition: TokenCondition

    public init(on loop: EventLoop) {
        loop.core.checkThread()
        signal = Cell.plain(loop.core, state: .pending, of: Void.self)
        condition = TokenCondition(signal)
    }

    deinit { signal.fail(CancellationError()) }

    /// The token to give to every operation that this source is to cancel.
    public var token: CancellationToken { CancellationToken(condition) }

    /// Whether ``cancel()`` has been called.
    public var isCancelled: Bool { signal.hasSucceeded }

    /// Cancels the token. First ends every operation that was given the token, in the order in which the
    /// operations began. After that, the handlers of ``CancellationToken/onCancel(on:_:)`` become ready to
    /// run.
    ///
    /// Returns `false` and does nothing if the token has been cancelled already.
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
