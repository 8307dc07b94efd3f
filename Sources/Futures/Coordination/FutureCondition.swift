/// A condition that futures wait for. A signal wakes one waiting future, a broadcast wakes all of them.
///
/// Unlike ``FutureEvent``, a condition has no memory: a signal is lost if nobody waits. A signal is also lost if the
/// waiter that it woke is cancelled afterwards. To wait for a state rather than for a change, use `wait(until:)`.
public final class FutureCondition {
    private let line: WaitLine<Void>
    private var breakage: (any Error)?

    public init(on loop: EventLoop) { line = WaitLine(on: loop.core, name: "condition") }

    public var loop: EventLoop { line.loop }

    /// The number of futures that wait.
    public var waitingCount: Int { line.count }

    /// Completes when a signal reaches this waiter. Signals wake waiters in the order in which the waiters
    /// began to wait. Fails with the error given to ``break(_:)``.
    public func wait(token: CancellationToken = .none) -> Future<Void> {
        (breakage.map { loop.failed($0) } ?? line.wait()).until(token)
    }

    /// Completes when `predicate` returns `true`. Calls `predicate` at once, and again after each signal that reaches
    /// this waiter. Fails with the error that `predicate` throws.
    ///
    /// ```swift
    /// let left = FutureCondition(on: loop)
    /// left.wait { members.isEmpty }.whenSuccess { print("all have left") }
    /// members.removeAll()
    /// left.broadcast()
    /// ```
    public func wait(
        token: CancellationToken = .none, until predicate: @escaping () throws -> Bool
    ) -> Future<Void> {
        loop.core.checkThread()
        guard !token.isCancelled else { return loop.failed(CancellationError()) }
        do { if try predicate() { return loop.succeeded() } } catch { return loop.failed(error) }
        let closedError = line.closedError
        return wait(token: token).flatMap { [weak self] in
            guard let self else { throw closedError }
            return wait(token: token, until: predicate)
        }
    }

    /// Wakes the waiter that has waited longest.
    public func signal() {
        loop.core.checkThread()
        _ = line.give(())
    }

    /// Wakes all waiters that wait now.
    public func broadcast() {
        loop.core.checkThread()
        line.succeed()
    }

    /// Fails all waits with `error`: the waits that are pending now, and all later waits.
    public func `break`(_ error: any Error) {
        loop.core.checkThread()
        breakage = error
        line.fail(error)
    }
}
