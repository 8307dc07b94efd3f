/// A signal that tells an operation whether its result is still wanted.
///
/// Pass a token as the `token:` of a method that adds a consumer to a future. When the token is cancelled,
/// that consumer stops waiting, and no future upstream is asked to cancel. The futures that the consumer
/// waited for, and their other callbacks, are not affected. What happens to the consumer depends on its kind:
///
/// A derived future, or the future of a group, is cancelled at once. The closures of
/// ``Future/whenComplete(on:token:_:)`` and ``Future/whenCancelled(on:token:_:)`` are called as for a
/// cancelled future. The closures of other observers are released without running. An operation that has no
/// future upstream ends: a timer, a submission, or a wait for a permit. A repetition or a traversal ends
/// together with the work that it has in progress.
///
/// If the token is already cancelled when you pass it, the token takes precedence over an outcome that is
/// already there. If the token is cancelled later, a callback that is already on its way, because its future
/// has completed, still runs. If the callback of `flatMap`, or of a similar method, has already returned a
/// future, that future is asked to cancel, unless something else waits for it.
///
/// If a loop of `flatMap`s gives a token to each `flatMap`, it keeps one future for each step until the loop
/// ends. Give the token to the operation that each step waits for instead.
///
/// A token belongs to the loop of its ``CancellationSource``. Passing the token to a future of a different
/// loop traps.
public struct CancellationToken {
    /// The condition under which the token is cancelled, or `nil` if the token is never cancelled.
    @usableFromInline let condition: TokenCondition?

    @inlinable
    init(_ condition: TokenCondition?) { self.condition = condition }

    /// A token that is never cancelled.
    @inlinable public static var none: CancellationToken { CancellationToken(nil) }

    /// Whether the token has been cancelled.
    public var isCancelled: Bool { condition?.isMet == true }

    /// Calls `handler` when the token is cancelled. Handlers are called in the order of registration.
    ///
    /// If the token is already cancelled, `handler` is queued now. If the token can never be cancelled any
    /// more, `handler` is released.
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

    /// Returns a token that is cancelled as soon as one of `tokens` is cancelled. If `tokens` is empty, the
    /// returned token is never cancelled. Traps if `tokens` belong to different loops.
    public static func any(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        CancellationToken(TokenCondition(TokenCondition.Kind.any, of: tokens.compactMap(\.condition)))
    }

    /// Returns a token that is cancelled as soon as all of `tokens` are cancelled. If `tokens` is empty, the
    /// returned token is never cancelled. Traps if `tokens` belong to different loops.
    public static func all(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        let tokens = Array(tokens)
        let conditions = tokens.compactMap(\.condition)
        guard conditions.count == tokens.count else { return .none }
        return CancellationToken(TokenCondition(TokenCondition.Kind.all, of: conditions))
    }

    /// Returns a token that is cancelled as soon as `a` or `b` is cancelled, as ``any(of:)`` does.
    public static func || (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        any(of: [a, b])
    }

    /// Returns a token that is cancelled as soon as both `a` and `b` are cancelled, as ``all(of:)`` does.
    public static func && (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        all(of: [a, b])
    }
}

@available(*, unavailable, message: "A token belongs to its loop's thread; go there with loop.execute { … }.")
extension CancellationToken: Sendable {}

/// A registered handler that waits for a token to be cancelled. Releasing the registration does not remove
/// the handler.
public struct CancellationRegistration {
    private let watch: TokenWatch?

    fileprivate init(_ watch: TokenWatch?) { self.watch = watch }

    /// Removes and releases the handler if the handler has not run yet.
    public func unregister() {
        watch?.target?.stopObserving(cancelling: false)
        watch?.end()
    }
}
