/// The outcome that is still missing of a group of futures.
struct Gathering<Output> {
    let group: Group

    /// Whether the group has its outcome, or nobody wants it any more.
    var isOver: Bool { group.target.isCompleted }

    func succeed(_ value: Output) { group.target.succeed(value) }

    func complete(_ result: Result<Output, any Error>) { group.target.complete(result) }

    /// Ends the group with the outcome of an input that has no value.
    func fail(_ error: any Error) { group.fail(error) }
}

/// Tells a group of the outcome of one of its inputs.
struct MemberStep<Value>: Step {
    let index: Int
    let arrived: (Result<Value, any Error>, _ index: Int) -> Void

    func run(source: Cell, target _: Cell) { arrived(source.readResult(as: Value.self), index) }

    typealias Output = Void
}

extension Future {
    /// A future that is completed by what `collect` returns, which is called with each outcome as it arrives.
    static func gather<Output>(
        _ futures: some Sequence<Future>, cancelRemaining: CancelRemaining = .always, on loop: EventLoop?,
        ifEmpty: @autoclosure () -> Result<Output, any Error>,
        collect: (Gathering<Output>, _ count: Int) -> (Result<Value, any Error>, _ index: Int) -> Void
    ) -> Future<Output> {
        let cells = futures.map(\.cell)
        guard let loop = loop ?? cells.first?.loop ?? EventLoop.current else { Misuse.noLoop() }
        loop.checkThread()
        let target = CellObject.plain(loop, state: .pending, of: Output.self)
        guard !cells.isEmpty else {
            target.complete(ifEmpty())
            return Future<Output>(target)
        }
        let group = Group(target: target, cancelRemaining: cancelRemaining)
        let arrived = collect(Gathering(group: group), cells.count)
        for (index, cell) in cells.enumerated() {
            group.wait(for: cell, step: MemberStep(index: index, arrived: arrived))
        }
        return Future<Output>(target)
    }

    /// The outcome of a group that needs at least one future and got none.
    static func refusal<Output>(of group: String) -> Result<Output, any Error> {
        .failure(FutureError.invalidArgument("\(group) was given no futures; give it at least one"))
    }
}
