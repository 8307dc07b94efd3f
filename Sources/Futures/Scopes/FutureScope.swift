/// Pieces of work on a loop that end together: the members of the scope. Members are bodies, futures, and objects such as
/// servers, connections, timers and child processes. The scope ends when its last member has ended.
///
/// When a member fails, the scope cancels the other members, waits until all have ended, and fails with that first error.
/// The errors of members that fail after it, for example in their clean-up, are reported as unhandled failures unless your
/// code handles the futures of these members. What breaks a connection or a watch is not reported: the members that use it get
/// that error. A member that is cancelled is not a failure.
///
/// Members may be added at any time before the scope has ended, also by members. After the scope has been cancelled, bodies
/// do not start, and futures and objects that are added are cancelled at once. A scope that has not ended waits for their end.
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
        /// The scope drains, as by ``FutureScope/drain(within:)``, and fails with the error when its members have ended.
        case drain(within: Duration)
    }

    /// What becomes of a body when its scope drains.
    public enum DrainResponse: Hashable, Sendable {
        /// The body goes on. It may watch ``FutureScope/draining``.
        case goOn
        /// The body is cancelled at once: for work in the background, which would not end by itself.
        case cancel
        /// The body goes on until all members with work of their own have ended, and is then cancelled, whether the scope
        /// drains or not: for what others need up to the end, such as a body that answers to signals.
        case cancelLast
    }

    let members: ScopeMembers
    public var loop: EventLoop { members.loop }

    /// Creates a scope without members.
    ///
    /// When `limit` has passed, the scope cancels its members, and fails with ``FutureError/timedOut(after:)``. With a
    /// negative limit, it starts nothing, and fails with ``FutureError/invalidArgument(_:)``.
    ///
    /// When a member has failed, the scope calls `onFailure` with the error, and does what that returns, also while it
    /// drains. After the scope has been cancelled, `onFailure` is not called any more.
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
    public var ended: Future<Void> { members.ending.future }

    /// Calls `hook` when the scope ends. A failure does not count as handled by this.
    package func onEnd(_ hook: @escaping (Result<Void, any Error>) -> Void) { members.onEnd(hook) }

    /// Calls `body` when a member has ended. A second call replaces the closure of the first.
    package func onMemberEnd(_ body: @escaping () -> Void) { members.onMemberEnd(body) }

    /// The number of members that have not ended.
    public var count: Int { members.count }

    /// Whether the scope has cancelled its members: after ``cancel()``, after the failure of a member, or after the time
    /// limit.
    public var isCancelled: Bool { members.isCancelled }

    /// Runs an asynchronous `body` as a member, in the same way as ``Future/init(on:isolation:_:)`` does. The returned
    /// future has the outcome of `body`.
    ///
    /// The member ends when `body` has returned, also if it is cancelled: the returned future then stays pending
    /// until `body` has ended. Cancelling the returned future cancels only this member. With
    /// ``CancelOptions/doNotForward`` or ``CancelOptions/immediately``, the future ends at once, and `body` stays a member.
    ///
    /// `drainResponse` says what becomes of the body when the scope drains or nothing else is left. Do not pass
    /// `isolation`. Its default is the isolation of the caller.
    @discardableResult
    public func run<Value>(
        onDrain drainResponse: DrainResponse = .goOn, isolation: (any Actor)? = #isolation,
        _ body: @escaping () async throws -> Value
    ) -> Future<Value> {
        members.loop.checkThread()
        if members.isClosed || members.isDraining && drainResponse == .cancel {
            return loop.failed(CancellationError())
        }
        let work = Future(on: loop, isolation: isolation, for: nil, endsWithWork: true, body)
        return members.add(work, onDrain: drainResponse)
    }

    /// Makes `future` a member, and returns a future with the same outcome. The scope cancels it even if other code waits
    /// for it.
    ///
    /// The member ends when `future` completes. That may be earlier than the end of the work behind it: the
    /// future of a ``Future/init(on:isolation:_:)`` that is cancelled completes at once, and its body ends later. So
    /// start bodies by ``run(onDrain:isolation:_:)``.
    @discardableResult
    public func add<Value>(_ future: Future<Value>) -> Future<Value> {
        let future = future.given(to: members.loop)
        guard !members.isOver else {
            future.cancel(.evenIfOthersWaiting)
            return loop.failed(CancellationError())
        }
        return members.add(future)
    }

    /// Makes an object a member, such as a server, a connection, a timer or a child process, and returns the object. The
    /// scope keeps the object until it has ended. If the scope has been cancelled or has ended, ends the object at once. A
    /// cancelled scope waits for the object's end, too.
    ///
    /// If the object ends by itself, that is no failure of the scope. If it ends with an error, as a connection that the
    /// peer resets, that is a failure.
    @discardableResult
    public func add<Member: ScopeMember>(_ member: Member) -> Member {
        loop.core.checkThread()
        var membership = member.membership
        membership.object = member
        members.add(membership)
        return member
    }

    /// Cancels all members. The scope ends when these have ended. Does nothing if the scope is cancelled already.
    public func cancel() {
        loop.core.checkThread()
        members.cancel()
    }

    /// Lets the members finish their work, and cancels after `grace` those that have not ended. Returns the future
    /// ``ended``.
    ///
    /// Servers, connections, child processes and other scopes drain in their own ways. Futures and bodies go on, except
    /// the bodies that were started with ``DrainResponse/cancel``. Members can still be added. If several calls give
    /// different times, the earliest counts. Fails with ``FutureError/invalidArgument(_:)``, and changes nothing, if
    /// `grace` is negative.
    @discardableResult
    public func drain(within grace: Duration) -> Future<Void> {
        loop.core.checkThread()
        guard grace >= .zero else { return loop.failed(FutureError.negativeDuration(grace)) }
        members.drain(within: grace)
        return ended
    }

    /// Completes when the scope begins to drain. Is cancelled if the scope ends or is cancelled before that.
    ///
    /// Cancelling this future changes nothing for other code that waits for the future.
    public var draining: Future<Void> { members.draining }

    /// Whether the scope drains: members should finish their work.
    public var isDraining: Bool { members.isDraining }
}

@available(
    *, unavailable, message: "A scope belongs to its loop's thread; go there with loop.execute { … }."
)
extension FutureScope: Sendable {}
