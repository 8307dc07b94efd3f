/// The members of a scope that have not ended, as a list: what has ended costs nothing.
///
/// Each member keeps this object alive, so a ``FutureScope`` that nobody holds any more is released, and cancels its members.
final class ScopeMembers {
    /// A member, which its predecessor holds.
    private final class Member {
        let cell: Cell
        unowned var previous: Member?
        var next: Member?

        init(_ cell: Cell) { self.cell = cell }
    }

    let loop: EventLoop
    let end: Promise<Void>
    private(set) var count = 0
    private(set) var isCancelled = false
    /// Whether the scope has ended.
    private(set) var isOver = false
    private var first: Member?
    private var failure: (any Error)?
    private var onFailure: ((any Error) -> FutureScope.FailureResponse)?
    private var timer: ScheduledTask<Void>?

    init(on loop: EventLoop, onFailure: @escaping (any Error) -> FutureScope.FailureResponse) {
        self.loop = loop
        self.onFailure = onFailure
        end = loop.makePromise(of: Void.self)
        end.onCancelRequest { [weak self] in
            self?.cancel()
            return .continue
        }
    }

    /// Cancels the members when `limit` has passed.
    func limit(to limit: Duration) {
        guard limit.wholeNanoseconds != nil else { return fail(with: FutureError.negativeDuration(limit)) }
        timer = loop.schedule(after: limit, keepsLoopAlive: false) { [weak self] in
            self?.fail(with: FutureError.timedOut(after: limit))
        }
    }

    /// Adds `future`, and returns the future by which it is a member.
    func add<Value>(_ future: Future<Value>) -> Future<Value> {
        guard !future.isCompleted else {
            ended(future.cell)
            return future
        }
        var member: Member?
        let child = future.onEnd { [self] in
            guard let member = member.take() else { return }
            remove(member)
            ended(member.cell)
        }
        let new = Member(child.cell)
        member = new
        new.next = first
        first?.previous = new
        first = new
        count += 1
        return child
    }

    private func remove(_ member: Member) {
        let (previous, next) = (member.previous, member.next.take())
        next?.previous = previous
        if let previous { previous.next = next } else { first = next }
        count -= 1
    }

    /// Looks at the outcome of the member of `cell`. Only the first failure is the scope's: others stay unobserved.
    private func ended(_ cell: Cell) {
        if case let outcome = cell.checkedRoot, outcome.state == .failure, failure == nil {
            outcome.flags.insert(.isObserved)
            let error = outcome.readFailure()
            if isCancelled || onFailure?(error) != .goOn { fail(with: error) }
        }
        endIfEmpty()
    }

    private func fail(with error: any Error) {
        guard failure == nil, !isOver else { return }
        failure = error
        cancel()
    }

    func cancel() {
        guard !isCancelled, !isOver else { return }
        isCancelled = true
        var cells: [Cell] = []
        var member = first
        while let current = member {
            cells.append(current.cell)
            member = current.next
        }
        // In the order in which they were added.
        for cell in cells.reversed() { _ = cell.requestCancellation(.evenIfOthersWaiting) }
        endIfEmpty()
    }

    /// Ends the scope, unless a member is left, or is added by what has to be told first.
    private func endIfEmpty() {
        guard count == 0 else { return }
        loop.core.afterCallbacks { [self] in
            guard count == 0, !isOver else { return }
            isOver = true
            timer.take()?.cancel()
            withExtendedLifetime(onFailure.take()) {}
            if let failure = failure.take() { end.fail(failure) } else { end.succeed() }
        }
    }
}

extension Future {
    /// Creates a future that has the outcome of `body`, and that stays pending until `body` has ended, even if it is
    /// cancelled.
    static func endingWithWork(
        on loop: EventLoop, isolation: (any Actor)?, _ body: @escaping () async throws -> Value
    ) -> Future {
        let future = Future(Cell.plain(loop.core, state: .pending, of: Value.self))
        future.cell.complete(with: body, isolation: isolation, for: nil, endsWithWork: true)
        return future
    }
}
