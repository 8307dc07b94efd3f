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
        _ target: Cell, of cells: Span<Cell>, _ cancelRemaining: CancelRemaining, _ token: CancellationToken
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
        if case .failure(let error) = result { fail(error) } else { target.complete(result) }
    }

    /// Ends the group with the error of an input. Cancellation counts as an error here.
    @usableFromInline func fail(_ error: any Error) { group.fail(error) }

    /// Returns a user's handler, which then sees the values of task-locals that the calling code sees.
    @usableFromInline
    func carrying(_ handler: @escaping (any Error, Int) -> Void) -> (any Error, Int) -> Void {
        target.loop.carrying(handler)
    }

    /// Calls a user's handler with `error`, before anybody sees the outcome of the group. Does nothing if
    /// `error` stands for cancellation.
    @usableFromInline
    func call(_ handler: @escaping (any Error, Int) -> Void, _ error: any Error, _ index: Int) {
        if !error.isCancellation { target.loop.enqueue { handler(error, index) } }
    }
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
        gather(
            futures, cancelRemaining: cancelRemaining, on: loop, queued: queued, token: token,
            ifEmpty: ifEmpty()
        ) { gathering, count in
            let arrived = collect(gathering, count)
            return ArrivalListener { source, index in arrived(source.readResult(as: Value.self), index) }
        }
    }

    /// Gives each outcome to the receiver that `makeReceiver` returns. Otherwise, does the same as `gather` with a
    /// closure. An outcome takes less time, as there is no closure to retain.
    @inlinable
    static func gather<Output, Receiver: ArrivalReceiver>(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining, on loop: EventLoop?,
        queued: Cell.Interest = [], token: CancellationToken,
        ifEmpty: @autoclosure () -> Result<Output, any Error>,
        makeReceiver: (Gathering<Output>, _ count: Int) -> Receiver
    ) -> Future<Output> {
        Array(futures).withCells { cells in
            let target = Cell.plain(.ofGroup(cells, loop), state: .pending, of: Output.self)
            guard let gathering = Gathering<Output>(target, of: cells, cancelRemaining, token) else {
                return Future<Output>(target)
            }
            guard !cells.isEmpty else {
                target.complete(ifEmpty())
                return Future<Output>(target)
            }
            gathering.group.wait(
                for: cells, queued: queued, receiver: makeReceiver(gathering, cells.count),
                behavior: Receiver.memberBehavior)
            return Future<Output>(target)
        }
    }

    /// Returns the failure of a group that got no futures but needs at least one.
    static func refusal<Output>(of group: String) -> Result<Output, any Error> {
        .failure(FutureError.invalidArgument("\(group) was given no futures; give it at least one"))
    }
}

extension Array {
    /// Calls `body` with the cells of these futures. They need no array of their own, since a future consists
    /// of its cell.
    @inlinable
    func withCells<Value, Result>(_ body: (Span<Cell>) -> Result) -> Result where Element == Future<Value> {
        unsafe withUnsafeBufferPointer { futures in
            unsafe futures.withMemoryRebound(to: Cell.self) { cells in unsafe body(cells.span) }
        }
    }
}

extension LoopCore {
    /// Returns the loop of a group: `loop` if it is given, otherwise the loop of the first cell, otherwise
    /// the loop of the current callback. Traps if there is none, and off the loop's thread.
    @usableFromInline
    static func ofGroup(_ cells: Span<Cell>, _ loop: EventLoop?) -> LoopCore {
        let first = cells.isEmpty ? nil : cells[0].loop
        guard let loop = loop?.core ?? first ?? EventLoop.current?.core else { Misuse.noLoop() }
        loop.checkThread()
        return loop
    }
}
