/// A signal that tells operations that their results are not needed any more.
///
/// Pass a token as the argument `token` of a method that adds a consumer to a future. A consumer is a derived
/// future, a group, or an observer such as the closure of `whenSuccess`. When the token is cancelled, the
/// consumer stops waiting. The future that the consumer waited for is not affected, and neither are the other
/// callbacks of that future. What happens to the consumer depends on its kind:
///
/// A derived future, or the future of a group, is cancelled at once. The closures of
/// ``Future/whenComplete(on:token:_:)`` and ``Future/whenCancelled(on:token:_:)`` are called as for a
/// cancelled future. The closures of other observers are released without running. Operations that do not
/// wait for a future, such as a timer, a submission, or a wait for a permit, end too. A repetition or a
/// traversal ends, and asks the work that is in progress to cancel.
///
/// If you pass a token that is cancelled already, the consumer ends, even if the future that it was to wait
/// for has completed. If the future completes first and the token is cancelled later, the callback still
/// runs. If the callback of `flatMap`, or of a similar method, has already returned a future, that future is
/// asked to cancel, unless other code waits for it.
///
/// If a function repeats its work by calling itself inside a `flatMap`, do not give a token to that
/// `flatMap`. Otherwise one future for each repetition stays in memory until the last repetition has ended.
/// Give the token to the operation for which the `flatMap` waits.
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

    /// Whether the token, which was passed to an object of `loop`, has been cancelled. Traps if it belongs to another
    /// loop.
    @inlinable
    func isCancelled(on loop: LoopCore) -> Bool { condition?.isMet(on: loop) == true }

    /// Calls `handler` on `context` when the token is cancelled. Handlers are called in the order of
    /// registration.
    ///
    /// If the token is cancelled already, `handler` is called as soon as `context` allows. If the token can
    /// never be cancelled, for example because its source has been released, `handler` is released without
    /// running.
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

    /// Returns a token that is cancelled as soon as any one of `tokens` is cancelled. If `tokens` is empty,
    /// the returned token is never cancelled. Traps if `tokens` belong to different loops.
    public static func any(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        CancellationToken(TokenCondition(tokens.compactMap(\.condition), needsAll: false))
    }

    /// Returns a token that is cancelled as soon as all of `tokens` are cancelled. If `tokens` is empty, the
    /// returned token is never cancelled. Traps if `tokens` belong to different loops.
    public static func all(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        let tokens = Array(tokens)
        let conditions = tokens.compactMap(\.condition)
        guard conditions.count == tokens.count else { return .none }
        return CancellationToken(TokenCondition(conditions, needsAll: true))
    }

    /// Returns a token that is cancelled as soon as `a` or `b` is cancelled. Does the same as ``any(of:)``
    /// with two tokens.
    public static func || (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        any(of: [a, b])
    }

    /// Returns a token that is cancelled as soon as both `a` and `b` are cancelled. Does the same as
    /// ``all(of:)`` with two tokens.
    public static func && (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        all(of: [a, b])
    }
}

@available(*, unavailable, message: "A token belongs to its loop's thread; go there with loop.execute { … }.")
extension CancellationToken: Sendable {}

/// The value that ``CancellationToken/onCancel(on:_:)`` returns: the registration of a handler. You need it
/// only to remove the handler. Releasing the registration does not remove the handler.
public struct CancellationRegistration {
    private let watch: TokenWatch?

    fileprivate init(_ watch: TokenWatch?) { self.watch = watch }

    /// Removes and releases the handler if the handler has not run yet.
    public func unregister() {
        watch?.target?.stopObserving(cancelling: false)
        watch?.end()
    }
}
