/// Pieces of work on a loop that end together: the members of the scope. The scope ends when its last member has ended.
///
/// When a member fails, the scope cancels the other members, waits until all have ended, and fails with that first error.
/// The errors of members that fail after it, for example in their clean-up, are reported as unhandled failures unless your
/// code handles the futures of these members. A member that is cancelled is not a failure.
///
/// Members may be added at any time before the scope has ended, also by members. A member that is added to a scope that
/// has been cancelled or has ended does not start, and its future is cancelled.
///
/// In a body or another asynchronous function, ``EventLoop/scope(within:isolation:_:)`` makes a scope and waits for its
/// end. When you release a scope that you have made yourself, the scope cancels its members.
///
/// ```swift
/// let scope = FutureScope(on: loop)
/// scope.run { try await load("index") }
/// scope.run { try await load("page") }
/// scope.ended.whenFailure { print("all parts have ended, because of \($0)") }
/// ```
public final class FutureScope {
    /// What a scope does after the failure of a member.
    public enum FailureResponse: Hashable, Sendable {
        /// The scope cancels the other members, and fails with the error.
        case end
        /// The scope goes on. The error counts as handled.
        case goOn
    }

    private let members: ScopeMembers
    public var loop: EventLoop { members.loop }

    /// Creates a scope without members.
    ///
    /// When `limit` has passed, the scope cancels its members, and fails with ``FutureError/timedOut(after:)``. With a
    /// negative limit, it starts nothing, and fails with ``FutureError/invalidArgument(_:)``.
    ///
    /// When a member has failed, the scope calls `onFailure` with the error, and does what that returns. After the scope
    /// has been cancelled, `onFailure` is not called any more.
    public init(
        on loop: EventLoop, within limit: Duration? = nil,
        onFailure: @escaping (_ error: any Error) -> FailureResponse = { _ in .end }
    ) {
        loop.core.checkThread()
        members = ScopeMembers(on: loop, onFailure: onFailure)
        if let limit { members.limit(to: limit) }
    }

    deinit { members.cancel() }

    /// Completes when the last member has ended: the scope is then over. Fails with the first error of a member.
    /// If you cancel this future, the scope is cancelled, and the future completes when all members have ended.
    ///
    /// If the scope fails and no code handles the failure of this future, it is reported as an unhandled failure.
    public var ended: Future<Void> { members.end.future }

    /// The number of members that have not ended.
    public var count: Int { members.count }

    /// Whether the scope has cancelled its members: after ``cancel()``, after the failure of a member, or after the time
    /// limit.
    public var isCancelled: Bool { members.isCancelled }

    /// Runs an asynchronous `body` as a member, in the same way as ``Future/init(on:isolation:_:)`` does. The returned
    /// future has the outcome of `body`.
    ///
    /// The member ends when `body` has returned, also if it is cancelled: the returned future then stays pending
    /// until `body` has ended. Cancelling the returned future cancels only this member.
    ///
    /// Do not pass `isolation`. Its default is the isolation of the caller.
    @discardableResult
    public func run<Value>(
        isolation: (any Actor)? = #isolation, _ body: @escaping () async throws -> Value
    ) -> Future<Value> {
        members.loop.core.checkThread()
        guard !members.isCancelled, !members.isOver else { return loop.failed(CancellationError()) }
        return members.add(.endingWithWork(on: loop, isolation: isolation, body))
    }

    /// Makes `future` a member, and returns a future with the same outcome. The scope cancels it even if other code waits
    /// for it.
    ///
    /// The member ends when `future` completes. That may be earlier than the end of the work behind it: the
    /// future of a ``Future/init(on:isolation:_:)`` that is cancelled completes at once, and its body ends later. So
    /// start bodies by ``run(isolation:_:)``.
    @discardableResult
    public func add<Value>(_ future: Future<Value>) -> Future<Value> {
        let future = future.given(to: members.loop.core)
        guard !members.isCancelled, !members.isOver else {
            future.cancel(.evenIfOthersWaiting)
            return loop.failed(CancellationError())
        }
        return members.add(future)
    }

    /// Cancels all members. The scope ends when these have ended. Does nothing if the scope is cancelled already.
    public func cancel() { members.cancel() }
}

@available(
    *, unavailable, message: "A scope belongs to its loop's thread; go there with loop.execute { … }."
)
extension FutureScope: Sendable {}
