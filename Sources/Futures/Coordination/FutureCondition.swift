/// A condition for which several callers can wait. ``signal()`` wakes one caller. ``broadcast()`` wakes all
/// callers that wait.
///
/// Unlike ``FutureEvent``, a condition keeps no state: a signal has no effect if no caller waits. A signal is
/// also lost if the caller that it woke is cancelled afterwards. To wait for a state, and not for a change,
/// use ``wait(token:until:)``.
public final class FutureCondition {
    private let line: WaitLine<Void>
    private var breakage: (any Error)?

    public init(on loop: EventLoop) { line = WaitLine(on: loop.core, name: "condition") }

    public var loop: EventLoop { line.loop }

    /// The number of waits that are pending.
    public var waitingCount: Int { line.count }

    /// Completes when a signal or a broadcast wakes this wait. Signals wake waits in the order in which the
    /// waits began. If ``break(_:)`` was called, or is called during the wait, fails with the error that was
    /// given to that function.
    public func wait(token: CancellationToken = .none) -> Future<Void> {
        (breakage.map { loop.failed($0) } ?? line.wait()).until(token)
    }

    /// Completes when `predicate` returns `true`. Calls `predicate` at once, and again after each signal or
    /// broadcast that wakes this wait. Fails with the error that `predicate` throws. Also fails after
    /// ``break(_:)``, with the error that was given to that function.
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
        guard !token.isCancelled(on: loop.core) else { return loop.failed(CancellationError()) }
        do { if try predicate() { return loop.succeeded() } } catch { return loop.failed(error) }
        let closedError = line.closedError
        return wait(token: token).flatMap { [weak self] in
            guard let self else { throw closedError }
            return wait(token: token, until: predicate)
        }
    }

    /// Wakes the wait that has been pending for the longest time. Does nothing if no wait is pending.
    public func signal() {
        loop.core.checkThread()
        _ = line.give(())
    }

    /// Wakes all waits that are pending now.
    public func broadcast() {
        loop.core.checkThread()
        line.succeed()
    }

    /// Fails all pending waits and all later waits with `error`.
    public func `break`(_ error: any Error) {
        loop.core.checkThread()
        let former = exchange(&breakage, with: error)
        line.fail(error)
        withExtendedLifetime(former) {}
    }
}
