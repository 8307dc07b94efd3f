/// The writing side of a `Future<Void>` that has no object of its own. Use it where an operation makes many, and
/// completes all of them: one that is never completed is not reported.
package struct BarePromise {
    private let cell: Cell

    package init(on loop: LoopCore) { cell = Cell.plain(loop, state: .pending, of: Void.self) }

    package var future: Future<Void> { Future(cell) }

    package func succeed() { cell.succeed(()) }

    package func fail(_ error: any Error) { cell.fail(error) }
}
