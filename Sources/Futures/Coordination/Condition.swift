/// A condition that wakes those that wait for something to change: one, or all.
///
/// Unlike ``FutureEvent`` it remembers nothing: a signal when nobody waits is lost. A signal is also lost if its
/// waiter is cancelled after it was woken. To wait for a state rather than for a change, use `wait(until:)`.
public final class FutureCondition {
    private let line: WaitLine<Void>
    private var breakage: (any Error)?

    public init(on loop: EventLoop) {
        line = WaitLine(on: loop.core, name: "condition")
    }

    public var loop: EventLoop { line.loop }

    /// The number of futures that wait.
    public var waitingCount: Int { line.count }

    /// Completes with the next signal, when it is this waiter's turn. Fails with the error given to ``break(_:)``.
    public func wait(token: CancellationToken = .none) -> Future<Void> {
        (breakage.map { loop.failed($0) } ?? line.wait()).until(token)
    }

    /// Completes when `predicate` is true: at once, or after a signal. Fails with what `predicate` throws.
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
        do {
            if try predicate() { return loop.succeeded() }
        } catch {
            return loop.failed(error)
        }
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

    /// Wakes all that wait now.
    public func broadcast() {
        loop.core.checkThread()
        line.succeed()
    }

    /// Fails all waits, now and later, with the error.
    public func `break`(_ error: any Error) {
        loop.core.checkThread()
        breakage = error
        line.fail(error)
    }
}
