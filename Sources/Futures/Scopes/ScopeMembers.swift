/// The members of a scope that have not ended, as a list: what has ended costs nothing.
///
/// Each member keeps this object alive, so a ``FutureScope`` that nobody holds any more is released, and cancels its members.
final class ScopeMembers {
    /// A member, which its predecessor holds.
    private final class Member {
        let cell: Cell
        /// What has been given to users: they may end it before the member ends, as by ``CancelOptions/doNotForward``.
        let given: Cell
        /// How to end an object. `nil` for a future.
        let membership: ScopeMembership?
        let drainResponse: FutureScope.DrainResponse?
        /// Whether the member ends when nobody else is left.
        let isResource: Bool
        unowned var previous: Member?
        var next: Member?
        private var isReleased = false

        init(
            _ cell: Cell, given: Cell, _ membership: ScopeMembership?,
            _ drainResponse: FutureScope.DrainResponse?, isResource: Bool
        ) {
            (self.cell, self.given) = (cell, given)
            (self.membership, self.drainResponse) = (membership, drainResponse)
            self.isResource = isResource
        }

        /// Lets a resource end, once.
        func release() {
            guard !exchange(&isReleased, with: true) else { return }
            if let membership { membership.release?() } else { cancel() }
        }

        func cancel() {
            if let membership {
                membership.cancel()
            } else {
                _ = cell.requestCancellation(.evenIfOthersWaiting)
            }
        }
    }

    let loop: LoopCore
    let ending: Promise<Void>
    private(set) var count = 0
    /// The number of members that are resources, which end when nobody else is left.
    private var resources = 0
    /// Whether a member was no resource.
    private var hasWorked = false
    private(set) var isCancelled = false
    /// Whether the scope has ended.
    private(set) var isOver = false
    /// The promise of `draining`, once somebody has asked for it.
    private var drainingPromise: Promise<Void>?
    /// The end of the time in which the members drain. `nil` if the scope does not drain.
    private var drainDeadline: UInt64?
    private var first: Member?
    private var failure: (any Error)?
    private var onFailure: ((any Error) -> FutureScope.FailureResponse)?
    private var timers: [ScheduledTask<Void>] = []
    private var endHooks: [(Result<Void, any Error>) -> Void] = []
    /// Called when a member has ended.
    private var memberHook: (() -> Void)?

    init(on loop: EventLoop, onFailure: @escaping (any Error) -> FutureScope.FailureResponse) {
        self.loop = loop.core
        self.onFailure = loop.core.carrying(onFailure)
        ending = loop.makePromise(of: Void.self)
        loop.core.composites.add(self)
        ending.onCancelRequest { [weak self] in
            self?.cancel()
            return .continue
        }
    }

    deinit { loop.composites.remove(self) }

    /// Whether nothing starts as a member any more.
    var isClosed: Bool { isCancelled || isOver }

    /// Calls `body` when `limit` has passed, unless the scope has ended.
    private func after(_ limit: Duration, _ body: @escaping (ScopeMembers) -> Void) {
        let timer = loop.schedule(after: limit) { [weak self] in if let self { body(self) } }
        timers.append(timer)
    }

    /// Cancels the members when `limit` has passed.
    func limit(to limit: Duration) {
        guard limit.wholeNanoseconds != nil else { return fail(with: FutureError.negativeDuration(limit)) }
        after(limit) { scope in
            scope.fail(with: FutureError.timedOut(after: limit))
            // It may drain because of another failure.
            scope.cancel()
        }
    }

    // MARK: Members

    /// Adds `future`, and returns a future with its outcome. A cancelled scope cancels it, and waits for its end.
    func add<Value>(
        _ future: Future<Value>, ending membership: ScopeMembership? = nil,
        onDrain drainResponse: FutureScope.DrainResponse? = nil
    ) -> Future<Value> {
        let isResource = membership?.release != nil || drainResponse == .cancelLast
        if !isResource { hasWorked = true }
        guard !future.isCompleted else {
            ended(future.cell, given: future.cell, membership)
            return future
        }
        var member: Member?
        let child = future.onEnd { [self] in
            guard let member = member.take() else { return }
            remove(member)
            ended(member.cell, given: member.given, member.membership)
        }
        // The owner of an object does not get its future.
        let given = membership == nil ? child.branch() : child
        let new = Member(
            child.cell, given: given.cell, membership, drainResponse, isResource: isResource)
        member = new
        new.next = first
        first?.previous = new
        first = new
        count += 1
        if new.isResource { resources += 1 }
        if isCancelled { new.cancel() }
        return given
    }

    /// Adds the object that has `membership`.
    func add(_ membership: ScopeMembership) {
        guard !isOver else {
            membership.ended.ignoreFailure()
            return membership.cancel()
        }
        // Its failure is that of the scope, or is reported.
        _ = add(membership.ended.given(to: loop), ending: membership)
        if !isCancelled, let drain = membership.drain, let timeLeft { drain(timeLeft) }
    }

    private func remove(_ member: Member) {
        let (previous, next) = (member.previous, member.next.take())
        next?.previous = previous
        if let previous { previous.next = next } else { first = next }
        count -= 1
        if member.isResource { resources -= 1 }
    }

    /// Looks at the outcome of the member of `cell`. Only the first failure is the scope's: others stay unobserved, unless
    /// those who use an object have got them.
    private func ended(_ cell: Cell, given: Cell, _ membership: ScopeMembership?) {
        if case let outcome = cell.checkedRoot, outcome.state == .failure {
            let error = outcome.readFailure()
            if membership?.isTold(error) == true { given.markObserved() }
            failed(error, given: given, isGivenAway: given !== cell)
        }
        memberHook?()
        endIfEmpty()
    }

    private func failed(_ error: any Error, given: Cell, isGivenAway: Bool) {
        let response = isCancelled ? nil : onFailure?(error)
        // If another member has failed before, or within `onFailure`, that failure is the scope's, and this one is reported.
        if failure == nil || response == .goOn {
            given.markObserved()
        } else if isGivenAway, given.checkedRoot.isCompleted {
            loop.reportUnhandled(error, of: "a member of a scope")
        }
        if response == .goOn { return }
        failure = failure ?? error
        if case .drain(let grace) = response { drain(within: max(grace, .zero)) } else { cancel() }
    }

    /// The members, in the order in which they were added.
    private var all: [Member] {
        guard let first else { return [] }
        return sequence(first: first) { $0.next }.reversed()
    }

    // MARK: Ending

    private func fail(with error: any Error) {
        guard failure == nil, !isOver else { return }
        failure = error
        cancel()
    }

    /// Cancels the members, except the object that ends with `spared`.
    func cancel(sparing spared: Future<Void>? = nil) {
        guard !isClosed else { return }
        isCancelled = true
        withExtendedLifetime(drainingPromise.take()) { _ = $0?.cancel() }
        for member in all where spared == nil || member.membership?.ended.cell !== spared?.cell {
            member.cancel()
        }
        endIfEmpty()
    }

    /// Completes when the scope begins to drain. Is cancelled when the scope is cancelled or ends before.
    var draining: Future<Void> {
        if drainDeadline != nil { return loop.succeeded() }
        guard !isClosed else { return loop.failed(CancellationError()) }
        let promise = drainingPromise ?? loop.makeSharedPromise()
        drainingPromise = promise
        return promise.future
    }

    var isDraining: Bool { drainDeadline != nil }

    /// The time in which the members have to drain. `nil` if the scope does not drain.
    private var timeLeft: Duration? {
        drainDeadline.map { .nanoseconds(Int64(clamping: $0 - min($0, loop.clock))) }
    }

    /// Lets the members end in order, and cancels them after `grace`. Without a `grace`, somebody else does so.
    func drain(within grace: Duration?) {
        guard !isClosed else { return }
        let deadline = grace.map { loop.deadline(after: $0.wholeNanoseconds!) } ?? .max
        if let drainDeadline, drainDeadline <= deadline { return }
        if let grace {
            after(grace) { scope in
                scope.tellWhoIsLeft(after: grace)
                scope.cancel()
            }
        }
        drainDeadline = deadline
        drainingPromise.take()?.succeed()
        for member in all {
            if member.drainResponse == .cancel { member.cancel() }
            if let timeLeft { member.membership?.drain?(timeLeft) }
        }
        endIfEmpty()
    }

    /// Tells the observers of the loop which members have not drained.
    private func tellWhoIsLeft(after grace: Duration) {
        guard !isClosed, loop.isObserved else { return }
        let snapshot = loop.snapshot().text(limit: 50)
        loop.tell(
            .warning(
                "a scope is cancelled, since \(count) of its members have not drained in \(grace): \(snapshot)"
            ))
    }

    /// Ends the scope, unless a member is left, or is added by what has to be told first. If only resources are left, ends
    /// these.
    private func endIfEmpty() {
        guard count == resources else { return }
        loop.afterCallbacks { [self] in
            guard count == resources, !isOver else { return }
            guard count == 0 else {
                if !isCancelled, hasWorked || isDraining { for member in all { member.release() } }
                return
            }
            isOver = true
            loop.composites.remove(self)
            for timer in exchange(&timers, with: []) { timer.cancel() }
            withExtendedLifetime((onFailure.take(), memberHook.take(), drainingPromise.take())) {
                _ = $2?.cancel()
            }
            let result = failure.take().map(Result.failure) ?? .success(())
            for hook in exchange(&endHooks, with: []) { hook(result) }
            // The promise has failed already if the loop shuts down.
            if !ending.complete(result), case .failure(let error) = result {
                loop.reportUnhandled(error, of: "a scope")
            }
        }
    }

    func onMemberEnd(_ hook: @escaping () -> Void) {
        withExtendedLifetime(exchange(&memberHook, with: hook)) {}
    }

    func onEnd(_ hook: @escaping (Result<Void, any Error>) -> Void) {
        if let result = ending.future.result { hook(result) } else { endHooks.append(hook) }
    }
}

extension ScopeMembers: Composite {
    var title: String {
        let state = isCancelled ? ", cancelled" : isDraining ? ", draining" : ""
        return "scope of \(count) member\(count == 1 ? "" : "s")\(state)"
    }

    var end: Cell { ending.cell }

    var parts: [CompositePart] {
        all.map { member in
            guard let membership = member.membership else { return .future(member.cell) }
            if let scope = membership.object as? FutureScope { return .composite(scope.members) }
            guard let object = membership.object as? any CustomStringConvertible else {
                return .future(member.cell)
            }
            return .object("\(object)")
        }
    }
}
