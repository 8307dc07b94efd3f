/// An object that does something at the end of a turn, when all callbacks of the turn have run.
package protocol TurnEnding: AnyObject {
    func turnEnds()
}

/// The objects that hear of the end of a turn.
final class TurnEndings {
    // Unchecked, since each stream that gathers its writes would be checked at run time. What is removed goes only when the
    // change is complete.
    @exclusivity(unchecked) private var waiting: [any TurnEnding] = []

    var isEmpty: Bool { unsafe waiting.isEmpty }

    func add(_ object: any TurnEnding) { unsafe waiting.append(object) }

    func removeAll() { unsafe waiting = [] }

    /// Calls all that wait.
    func tellAll() {
        // One ending may bring another: a stream sends what it has gathered to a stream that gathers, too. A few times, since
        // callbacks may go on like that: the rest waits for the next turn.
        for _ in 0..<4 where unsafe !waiting.isEmpty {
            var endings: [any TurnEnding] = []
            unsafe swap(&endings, &waiting)
            if endings.count > 1 { endings.reverse() }
            while let ending = endings.popLast() { ending.turnEnds() }
            // An object that ends here may ask for another ending. The memory is used again.
            if unsafe waiting.isEmpty { unsafe swap(&endings, &waiting) }
        }
    }
}

/// A closure that is called when nothing is ready any more.
private final class LastCall: TurnEnding {
    private unowned let loop: LoopCore
    private let body: () -> Void
    /// The number of turns for which callbacks that go on without an end may delay the call.
    private var patience = 1000

    init(on loop: LoopCore, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
    }

    func turnEnds() {
        guard !loop.ready.isEmpty, patience > 0 else { return body() }
        patience -= 1
        // Behind all that is ready now.
        loop.enqueue { [self] in loop.atTurnEnd(self) }
    }
}

extension LoopCore {
    /// Calls `body` at the end of the turn in which the callbacks that are ready have run, and those that they make ready.
    /// So the end of an object is reported last, after everything that it has ended. While the loop is shut down, calls
    /// `body` at once.
    package func afterCallbacks(_ body: @escaping () -> Void) {
        guard ending.phase == .open else { return body() }
        atTurnEnd(LastCall(on: self, body))
    }

    /// Whether no callback is ready that might have to hear of something first.
    fileprivate var hasToldAll: Bool { ready.isEmpty && turnEndings.isEmpty }

    /// Calls `turnEnds` of `object` at the end of this turn. If no turn runs, there will be one. Callbacks that become
    /// ready in `turnEnds` run in the next turn.
    package func atTurnEnd(_ object: any TurnEnding) {
        turnEndings.add(object)
        requestTurn()
    }
}

extension Promise {
    /// Completes the future, which says that something has ended, by `afterCallbacks`, or at once if no callback is ready.
    /// So call this when whatever has ended has completed its futures.
    package func completeLast(_ result: Result<Value, any Error>) {
        let loop = future.loop.core
        if loop.hasToldAll {
            complete(result)
        } else if !future.isCompleted {
            loop.afterCallbacks { [self] in complete(result) }
        }
    }
}

extension Promise where Value == Void {
    /// Completes the future by `completeLast`. Not generic: looking up generic types would cost each connection that
    /// ends as much as its other callbacks.
    package func completeLast(failure: (any Error)? = nil) {
        let loop = future.loop.core
        if loop.hasToldAll {
            end(failure)
        } else if !future.isCompleted {
            loop.afterCallbacks { [self] in end(failure) }
        }
    }

    private func end(_ failure: (any Error)?) {
        if let failure { fail(failure) } else { succeed() }
    }
}
