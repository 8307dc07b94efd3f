/// The outcome of a group of futures, while it is still missing.
@usableFromInline
struct Gathering<Output> {
    @usableFromInline let group: Group
    @usableFromInline let target: Cell

    init(_ target: Cell, _ cancelRemaining: CancelRemaining) {
        self.target = target
        group = Group(target: target, cancelRemaining: cancelRemaining)
    }

    /// Begins a group of `cells`. Returns `nil` if `token` has ended the group already.
    @usableFromInline
    init?(
        _ target: Cell, of cells: [Cell], _ cancelRemaining: CancelRemaining, _ token: CancellationToken
    ) {
        if let condition = token.condition, condition.ends(target, of: cells) { return nil }
        self.init(target, cancelRemaining)
        if let condition = token.condition { group.end(by: condition) }
    }

    /// Whether the group has its outcome, or nobody wants it any more.
    var isOver: Bool { target.isCompleted }

    @inlinable
    func succeed(_ value: Output) { target.succeed(value) }

    /// Ends the group with the value or the error in `result`.
    func complete(_ result: Result<Output, any Error>) {
        switch result {
        case .success(let value): succeed(value)
        case .failure(let error): fail(error)
        }
    }

    /// Ends the group with the error of an input. Cancellation counts as an error here.
    @usableFromInline
    func fail(_ error: any Error) { group.fail(error) }

    /// Calls a user's handler with the error in `result`, if there is one, before anybody sees the outcome.
    @usableFromInline
    func call<Value>(
        _ handler: @escaping (any Error, Int) -> Void, _ result: Result<Value, any Error>, _ index: Int
    ) {
        if let error = result.failure { target.loop.enqueue { handler(error, index) } }
    }
}

/// Tells a group which of its inputs has completed. Has no type but its own, which the closure knows: a group of a
/// thousand would look up a generic type's metadata a thousand times.
struct MemberStep: Step {
    let index: Int
    let arrived: (_ source: CellPointer, _ index: Int) -> Void

    func run(source: CellPointer, target _: CellPointer) { arrived(source, index) }

    typealias Output = Void
}

extension Future {
    /// Completes with what `collect` makes of the outcomes. Calls what `collect` returns with each outcome as it
    /// arrives: from the ready queue with those of `queued`, since it calls a user's closure then, and at once with
    /// others.
    @inlinable
    static func gather<Output>(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always, on loop: EventLoop?,
        queued: Cell.Interest = [], token: CancellationToken = .none,
        ifEmpty: @autoclosure () -> Result<Output, any Error>,
        collect: (Gathering<Output>, _ count: Int) -> (Result<Value, any Error>, _ index: Int) -> Void
    ) -> Future<Output> {
        let cells = futures.map { $0.cell }
        let target = Cell.plain(.ofGroup(cells, loop), state: .pending, of: Output.self)
        guard let gathering = Gathering<Output>(target, of: cells, cancelRemaining, token) else {
            return Future<Output>(target)
        }
        if cells.isEmpty { target.complete(ifEmpty()) }
        let arrived = collect(gathering, cells.count)
        gathering.group.wait(for: cells, queued: queued) { source, index in
            arrived(source.readResult(as: Value.self), index)
        }
        return Future<Output>(target)
    }

    /// Returns the outcome of a group that needs at least one future and got none.
    static func refusal<Output>(of group: String) -> Result<Output, any Error> {
        .failure(FutureError.invalidArgument("\(group) was given no futures; give it at least one"))
    }
}

extension Group {
    /// Waits for all `futures`. Calls `arrived` with each future as it completes, and its index.
    @usableFromInline
    func wait(
        for futures: [Cell], queued: Cell.Interest,
        _ arrived: @escaping (_ source: CellPointer, _ index: Int) -> Void
    ) {
        let propagation = target.loop.propagation
        propagation.asOneChange {
            for (index, future) in futures.enumerated() {
                wait(for: future, queued: queued, step: MemberStep(index: index, arrived: arrived))
            }
        }
        propagation.finishChange()
    }
}

extension LoopCore {
    /// Returns the loop of a group of `cells`, which is `loop` if that is given. Checks the thread.
    @usableFromInline
    static func ofGroup(_ cells: [Cell], _ loop: EventLoop?) -> LoopCore {
        guard let loop = loop?.core ?? cells.first?.loop ?? EventLoop.current?.core else { Misuse.noLoop() }
        loop.checkThread()
        return loop
    }
}
