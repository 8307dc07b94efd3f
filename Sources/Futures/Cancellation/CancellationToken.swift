/// A signal that tells an operation whether its result is still wanted.
///
/// When it is cancelled, it removes the consumer that it was given with as `token:`, and asks nothing upstream to
/// cancel. A derived future or the future of a group is cancelled at once. ``Future/whenComplete(on:token:_:)`` and
/// ``Future/whenCancelled(on:token:_:)`` are called as for a cancelled future. Other observers are released without
/// running. The futures that the consumer waited for and their other callbacks notice nothing. An operation with
/// nothing upstream ends: a timer, a submission, a wait for a permit, a repetition or a traversal with the work that it
/// has in progress.
///
/// A token that is already cancelled wins over an outcome that is already there. One that is cancelled later does not
/// take back a callback that is on its way because its future has completed. A future that the callback of `flatMap`
/// and its like has returned is asked to cancel, if nobody else waits for it.
///
/// A loop of `flatMap`s that gives a token to each of them keeps one future for each step until it ends. Give the token
/// to what the steps wait for instead.
///
/// It belongs to the loop of its ``CancellationSource``, and traps when given to a future of another loop.
public struct CancellationToken {
    /// `nil` if it is never cancelled.
    @usableFromInline let condition: TokenCondition?

    @inlinable
    init(_ condition: TokenCondition?) { self.condition = condition }

    /// A token that is never cancelled.
    @inlinable public static var none: CancellationToken { CancellationToken(nil) }

    /// Whether the token has been cancelled.
    public var isCancelled: Bool { condition?.isMet == true }

    /// Calls `handler` when the token is cancelled. Handlers are called in the order of registration.
    ///
    /// If the token is already cancelled, `handler` is queued now. If it never will be, `handler` is released.
    ///
    /// ```swift
    /// source.token.onCancel { connection.abort() }
    /// ```
    @discardableResult
    public func onCancel(
        on context: LocalContext = .default, _ handler: @escaping () -> Void
    ) -> CancellationRegistration {
        guard let condition, condition.canBeMet else { return CancellationRegistration(nil) }
        let loop = condition.loop
        let cell = Cell.waiting(loop, step: SubmitStep(body: handler))
        cell.pointer.place(Cell.Interest.all.on(context))
        let watch = TokenWatch(condition, for: cell) { loop.dispatch($0) }
        if condition.isMet {
            loop.dispatch(cell)
            loop.propagation.finishChange()
        }
        return CancellationRegistration(watch)
    }

    /// Returns a token that is cancelled as soon as one of `tokens` is, and never if there are none. Traps if they are
    /// not all of one loop.
    public static func any(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        CancellationToken(.any(tokens.compactMap(\.condition)))
    }

    /// Returns a token that is cancelled as soon as all of `tokens` are, and never if there are none. Traps if they are
    /// not all of one loop.
    public static func all(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        let tokens = Array(tokens)
        let conditions = tokens.compactMap(\.condition)
        return CancellationToken(conditions.count == tokens.count ? .all(conditions) : nil)
    }

    /// Combines two tokens like ``any(of:)``.
    public static func || (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        any(of: [a, b])
    }

    /// Combines two tokens like ``all(of:)``.
    public static func && (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        all(of: [a, b])
    }
}

@available(
    *, unavailable, message: "A token belongs to its loop's thread; go there with loop.execute { … }."
)
extension CancellationToken: Sendable {}

/// A registered handler that waits for a token to be cancelled. Releasing the registration does not remove the handler.
public struct CancellationRegistration {
    private let watch: TokenWatch?

    fileprivate init(_ watch: TokenWatch?) { self.watch = watch }

    /// Removes the handler, and releases it, if it has not run yet.
    public func unregister() {
        watch?.target?.stopObserving(cancelling: false)
        watch?.end()
    }
}
