/// A group of futures in progress, and the cell for the outcome of the group.
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

    /// Whether the group has its outcome, or has been cancelled.
    var isOver: Bool { target.isCompleted }

    @inlinable func succeed(_ value: Output) { target.succeed(value) }

    /// Ends the group with the value or the error in `result`.
    func complete(_ result: Result<Output, any Error>) {
        switch result {
        case .success(let value): succeed(value)
        case .failure(let error): fail(error)
        }
    }

    /// Ends the group with the error of an input. Cancellation counts as an error here.
    @usableFromInline func fail(_ error: any Error) { group.fail(error) }

    /// Calls a user's handler with the error in `result`, before anybody sees the outcome of the group. Does
    /// nothing if `result` has a value or stands for cancellation.
    @usableFromInline
    func call<Value>(
        _ handler: @escaping (any Error, Int) -> Void, _ result: Result<Value, any Error>, _ index: Int
    ) {
        if let error = result.failure { target.loop.enqueue { handler(error, index) } }
    }
}

/// A step that tells a group which of its inputs has completed. It is not generic, and only its closure knows
/// the type of the inputs: otherwise a group of a thousand inputs would look up the metadata of a generic
/// type a thousand times.
struct MemberStep: Step {
    let index: Int
    let arrived: (_ source: CellPointer, _ index: Int) -> Void

    func run(source: CellPointer, target _: CellPointer) { arrived(source, index) }

    typealias Output = Void
}

extension Future {
    /// Calls the function that `collect` returns with each outcome as it arrives. That function completes the
    /// returned future. For an outcome in `queued` the ready queue calls the function, since the function
    /// then calls a user's closure. For any other outcome the call is at once.
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

    /// Returns the failure of a group that got no futures but needs at least one.
    static func refusal<Output>(of group: String) -> Result<Output, any Error> {
        .failure(FutureError.invalidArgument("\(group) was given no futures; give it at least one"))
    }
}

extension Group {
    /// Waits for all `futures`. Calls `arrived` with each future that completes and with its index.
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
    /// Returns the loop of a group: `loop` if it is given, otherwise the loop of the first cell, otherwise
    /// the loop of the current callback. Traps if there is none, and off the loop's thread.
    @usableFromInline
    static func ofGroup(_ cells: [Cell], _ loop: EventLoop?) -> LoopCore {
        guard let loop = loop?.core ?? cells.first?.loop ?? EventLoop.current?.core else { Misuse.noLoop() }
        loop.checkThread()
        return loop
    }
}
