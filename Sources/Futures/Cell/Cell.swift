/// The object behind a future. It holds the state of the future, and is a node in its source's list of
/// consumers.
///
/// The cell of a derived future also holds the step of that future. The step waits in the payload. Later the
/// outcome takes the place of the step there, so a `map` costs one allocation. A cell is in one of these
/// states:
///
/// - pending, with a step: the cell waits in the list of `source`. When the source has completed, the cell
///   waits in the ready queue;
/// - pending, without a step: the cell of a promise, or a cell whose step has run and returned a future;
/// - linked: a completion of this cell completes another cell instead, the root;
/// - success, failure or cancelled: the final states.
///
/// Most code is written for a ``CellPointer``, the address of a cell, which owns nothing. Only code that uses
/// a cell from outside is written for the cell itself.
@usableFromInline
final class Cell {
    @exclusivity(unchecked) private var content: CellContent
    /// The cell's slot in the heap of timers. It is not a field of the content: the compiler destroys a
    /// struct of more than fifteen fields at greater cost.
    @exclusivity(unchecked) private var timerSlot = SlotHeap.noSlot
    /// The callers of the function that made the future.
    let callers: Callers

    /// Creates a cell in the state `state`. The caller fills the payload.
    @usableFromInline
    init(_ loop: borrowing LoopCore, state: Cell.State, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(
            loop: Unmanaged.passUnretained(loop), behavior: behavior, state: state, flags: flags)
        callers = Callers(on: loop)
        assert(pointer.timerSlot == SlotHeap.noSlot, "the timer's slot does not lie behind the content")
        loop.cellWasMade()
    }

    /// Creates a pending cell of the loop of `sibling`. The caller fills the payload.
    @usableFromInline
    init(besides sibling: borrowing Cell, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(
            loop: sibling.content.loop, behavior: behavior, state: .pending, flags: flags)
        callers = Callers(on: sibling.loop)
        pointer.withLoop { $0.cellWasMade() }
    }

    deinit {
        pointer.tearDown()
        unsafe content.behavior.release()
        unsafe content.producer?.release()
    }

    /// The pointer to this cell. The cell must outlive every use of the pointer.
    ///
    /// This property does not call `withUnsafeMutablePointer(to: &content)`. With that call the optimizer may
    /// conclude that the cell does not escape, and put the cell on the stack.
    @usableFromInline
    var pointer: CellPointer {
        unsafe CellPointer(Unmanaged.passUnretained(self).toOpaque() + CellPointer.headerSize)
    }
}

extension Cell {
    /// The state of a cell. The outcomes come last, in the order of the bits of `Interest`.
    @usableFromInline
    enum State: UInt8 { case pending, linked, success, failure, cancelled }

    /// An operation that depends on the types of a cell. The behavior of the cell performs it.
    @usableFromInline
    enum Operation {
        /// Takes the step out of the payload, and runs the step with the completed source.
        case run
        case dropStep
        case dropValue
        /// Copies the value of the source. That value has the same type as the value of this cell.
        case copyValue
        /// The value is a `Result`. If the `Result` is a failure, reports that failure. If the `Result` is a
        /// success, does nothing.
        case reportFailure
        /// Passes on the name of the cell's step, for the report of a failure.
        case name
    }

    /// The outcomes of the source that run a cell's step, and the context that the step runs on. Any other
    /// outcome passes through the cell at once.
    @usableFromInline
    struct Interest: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt16
        @inlinable init(rawValue: UInt16) { self.rawValue = rawValue }
        @inlinable static var success: Interest { Interest(rawValue: 1) }
        @inlinable static var failure: Interest { Interest(rawValue: 2) }
        @inlinable static var cancellation: Interest { Interest(rawValue: 4) }
        /// The step also runs when its own future has been cancelled (`always`).
        @inlinable static var afterCancel: Interest { Interest(rawValue: 8) }
        @inlinable static var all: Interest { Interest(rawValue: 7) }
        /// The step runs at once, within the change, on each outcome that is not among the above. Such a step
        /// calls no code of users. A group thus hears at once of its members.
        @inlinable static var atOnce: Interest { Interest(rawValue: 1 << 14) }
        // Bits 4 to 11 are for contexts.
        /// A mark of a completed cell: one of its callbacks runs now, and not from the ready queue.
        static let isCalling = Interest(rawValue: 1 << 12)
        /// A mark of an observer. Nothing else holds the observer, but it needs the outcome.
        static var listens: Interest { Interest(rawValue: 1 << 13) }
        /// A mark in what a loop adds to interests: closures carry the values of task-locals.
        static var carries: Interest { Interest(rawValue: 1 << 15) }
    }

    /// The marks of a cell.
    @usableFromInline
    struct Flags: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt8
        @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }
        @inlinable static var hasStep: Flags { Flags(rawValue: 1) }
        /// A value of the cell's type needs no release.
        @inlinable static var hasTrivialValue: Flags { Flags(rawValue: 32) }
        /// The value is the `Result` of a typed future. A failure in that `Result` is reported unless
        /// something handles it.
        static let holdsResult = Flags(rawValue: 64)
        /// Something handles a failure, so the failure is not reported.
        static let isObserved = Flags(rawValue: 2)
        /// Another future completes this cell. The promise of this cell can no longer complete it.
        static let isLockedIn = Flags(rawValue: 4)
        /// The cell waits in a queue to run its step.
        static let isQueued = Flags(rawValue: 8)
        /// The cell is in the loop's list of promises, which `shutdown()` fails.
        static let isListed = Flags(rawValue: 16)
        /// The cell is, or was, one of the loop's timers.
        static let isTimed = Flags(rawValue: 128)
    }
}
