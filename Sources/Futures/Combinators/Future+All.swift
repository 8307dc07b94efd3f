extension Future {
    /// A future of the values of all `futures`, in their order; of an empty array if there are none.
    ///
    /// Fails, or is cancelled, as soon as one of them is; the others are then asked to cancel if nobody else
    /// waits for them, unless `cancelRemaining` is `false`. An empty group is of the loop `loop`, or else of
    /// the one whose callback this is. Traps if the futures are not all of one loop.
    public static func all(
        _ futures: some Sequence<Future>, cancelRemaining: Bool = true, on loop: EventLoop? = nil
    ) -> Future<[Value]> {
        let cells = futures.map(\.cell)
        guard let loop = loop ?? cells.first?.loop ?? EventLoop.current else { Misuse.noLoop() }
        guard !cells.isEmpty else { return loop.succeeded([]) }
        let target = CellObject.plain(loop, state: .pending, of: [Value].self)
        let gathered = Gathered<Value>(count: cells.count)
        let group = Group(target: target, cancelsRemaining: cancelRemaining)
        for (index, cell) in cells.enumerated() {
            group.wait(for: cell, step: GatherStep(index: index, gathered: gathered, target: target))
        }
        return Future<[Value]>(target)
    }

    /// A future with the outcome of the first of `futures` to complete, whichever that outcome is.
    ///
    /// The others are then asked to cancel if nobody else waits for them, unless `cancelRemaining` is `false`.
    /// Fails with ``FutureError/invalidArgument(_:)`` if there are none. Traps if they are not all of one loop.
    public static func race(
        _ futures: some Sequence<Future>, cancelRemaining: Bool = true, on loop: EventLoop? = nil
    ) -> Future {
        let cells = futures.map(\.cell)
        guard let loop = loop ?? cells.first?.loop ?? EventLoop.current else { Misuse.noLoop() }
        guard !cells.isEmpty else {
            return loop.failed(FutureError.invalidArgument("race was given no futures; give it at least one"))
        }
        let target = CellObject.plain(loop, state: .pending, of: Value.self)
        let group = Group(target: target, cancelsRemaining: cancelRemaining)
        for cell in cells {
            group.wait(for: cell, step: RaceStep<Value>(target: target))
        }
        return Future(target)
    }

    /// A future of this value and that of `other`. Fails, or is cancelled, as soon as one of the two is; the
    /// other one is then asked to cancel if nobody else waits for it.
    public func and<Other>(_ other: Future<Other>) -> Future<(Value, Other)> {
        let target = CellObject.plain(loop, state: .pending, of: (Value, Other).self)
        let pair = Pair<Value, Other>()
        let group = Group(target: target, cancelsRemaining: true)
        group.wait(for: cell, step: PairStep(part: \.first, pair: pair, target: target))
        group.wait(for: other.cell, step: PairStep(part: \.second, pair: pair, target: target))
        return Future<(Value, Other)>(target)
    }

    /// The same as ``and(_:)``.
    public static func zip<A, B>(_ first: Future<A>, _ second: Future<B>) -> Future where Value == (A, B) {
        first.and(second)
    }
}

private final class Gathered<Value> {
    var values: [Value?]
    var missing: Int

    init(count: Int) {
        values = Array(repeating: nil, count: count)
        missing = count
    }
}

private struct GatherStep<Value>: Step {
    let index: Int
    let gathered: Gathered<Value>
    let target: CellObject

    func run(source: Cell, target _: Cell) {
        switch source.readResult(as: Value.self) {
        case .success(let value):
            gathered.values[index] = .some(value)
            gathered.missing -= 1
            if gathered.missing == 0 { target.succeed(gathered.values.map { $0! }) }
        case .failure(let error):
            target.fail(error)
        }
    }

    typealias Output = Void
}

private struct RaceStep<Value>: Step {
    let target: CellObject

    func run(source: Cell, target _: Cell) {
        target.complete(source.readResult(as: Value.self))
    }

    typealias Output = Void
}

private final class Pair<First, Second> {
    var first: First?
    var second: Second?
}

private struct PairStep<First, Second, Part>: Step {
    let part: ReferenceWritableKeyPath<Pair<First, Second>, Part?>
    let pair: Pair<First, Second>
    let target: CellObject

    func run(source: Cell, target _: Cell) {
        switch source.readResult(as: Part.self) {
        case .success(let value):
            pair[keyPath: part] = value
            if let first = pair.first, let second = pair.second { target.succeed((first, second)) }
        case .failure(let error):
            target.fail(error)
        }
    }

    typealias Output = Void
}
