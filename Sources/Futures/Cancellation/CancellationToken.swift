/// Says whether something is not wanted any more, to whoever does it.
///
/// Given as `token:` it removes the consumer that it was given with, and asks nothing upstream to cancel: a derived
/// future, or that of a group, is cancelled at once, ``Future/whenComplete(on:token:_:)`` and
/// ``Future/whenCancelled(on:token:_:)`` are called as for a cancelled future, other observers are released unrun. The
/// futures that it waited for and their other callbacks notice nothing. What has nothing upstream ends: a timer, a
/// submission, a wait for a permit, a repetition or a traversal with the work that it has in progress. A token that
/// is cancelled already wins over an outcome that is there already. One that is cancelled later does not take back a
/// callback that is on its way because its future has completed. A future that the callback of `flatMap` and its like
/// has returned is asked to cancel, if nobody else waits for it.
///
/// A loop of `flatMap`s that gives a token to each of them keeps one future for each step until it ends: give the
/// token to what the steps wait for instead.
///
/// It belongs to the loop of its ``CancellationSource``, and traps when given to a future of another one.
public struct CancellationToken {
    /// `nil` if it is never cancelled.
    @usableFromInline let condition: TokenCondition?

    @inlinable
    init(_ condition: TokenCondition?) { self.condition = condition }

    /// One that is never cancelled.
    @inlinable public static var none: CancellationToken { CancellationToken(nil) }

    /// Whether it has been cancelled.
    public var isCancelled: Bool { condition?.isMet == true }

    /// Calls `handler` when the token is cancelled; handlers are called in the order of registration. If it is
    /// cancelled already, `handler` is queued now. If it never will be, `handler` is released.
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
            loop.finishChange()
        }
        return CancellationRegistration(watch)
    }

    /// A token that is cancelled as soon as one of `tokens` is; never if there are none. Traps if they are not
    /// all of one loop.
    public static func any(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        CancellationToken(.any(tokens.compactMap(\.condition)))
    }

    /// A token that is cancelled as soon as all of `tokens` are; never if there are none. Traps if they are not
    /// all of one loop.
    public static func all(of tokens: some Sequence<CancellationToken>) -> CancellationToken {
        let tokens = Array(tokens)
        let conditions = tokens.compactMap(\.condition)
        return CancellationToken(conditions.count == tokens.count ? .all(conditions) : nil)
    }

    /// The same as ``any(of:)`` for two.
    public static func || (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        any(of: [a, b])
    }

    /// The same as ``all(of:)`` for two.
    public static func && (a: CancellationToken, b: CancellationToken) -> CancellationToken {
        all(of: [a, b])
    }
}

@available(
    *, unavailable, message: "A token belongs to its loop's thread; go there with loop.execute { … }."
)
extension CancellationToken: Sendable {}

/// A handler that waits for a token to be cancelled. Releasing this does not end it.
public struct CancellationRegistration {
    private let watch: TokenWatch?

    fileprivate init(_ watch: TokenWatch?) { self.watch = watch }

    /// Takes the handler back, and releases it, if it has not run yet.
    public func unregister() {
        watch?.target?.stopObserving(cancelling: false)
        watch?.end()
    }
}
