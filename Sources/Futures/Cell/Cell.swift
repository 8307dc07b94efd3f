internal import CRuntime

/// The state of a future, and at the same time a node in its source's list of consumers.
///
/// A derived future is its own continuation. The step it has to run waits in the payload, where its outcome goes later,
/// so that a `map` costs one allocation. A cell moves through these states:
///
/// - pending, with a step: waits in the list of `source`, or, once that has completed, in the ready queue;
/// - pending, without one: a promise, or a cell whose step has run and returned a future;
/// - linked: what completes this cell completes another one, its root, instead;
/// - success, failure or cancelled, for ever.
///
/// All code but the use of a cell from elsewhere is written for the ``CellPointer`` to it, which owns nothing.
@usableFromInline
final class Cell {
    @exclusivity(unchecked) private var content: CellContent
    /// Not in the content: the compiler destroys that at greater cost if it has more than fifteen fields.
    @exclusivity(unchecked) private var timerSlot = SlotHeap.noSlot
    #if DEBUG
        /// The callers that have made the future.
        let callers: Callers
    #endif

    /// Creates a cell in its first state. The caller fills the payload.
    @usableFromInline
    init(_ loop: borrowing LoopCore, state: Cell.State, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(
            Unmanaged.passUnretained(loop), state: state, flags: flags, behavior: behavior)
        #if DEBUG
            callers = Callers(on: loop)
        #endif
        assert(pointer.timerSlot == SlotHeap.noSlot, "the timer's slot does not lie behind the content")
        loop.cellWasMade()
    }

    /// Creates a pending cell of the same loop as `sibling`.
    @usableFromInline
    init(besides sibling: borrowing Cell, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(sibling.content.loop, state: .pending, flags: flags, behavior: behavior)
        #if DEBUG
            callers = Callers(on: sibling.loop)
        #endif
        pointer.withLoop { $0.cellWasMade() }
    }

    deinit {
        pointer.tearDown()
        unsafe content.release()
    }

    /// The pointer that stands for this object. The object must outlive its use.
    ///
    /// Not by `withUnsafeMutablePointer(to: &content)`: the optimizer may then believe that the object does not escape,
    /// and put it on the stack.
    @usableFromInline
    var pointer: CellPointer {
        unsafe CellPointer(Unmanaged.passUnretained(self).toOpaque() + CellPointer.headerSize)
    }
}

extension Cell {
    /// The outcomes come last, in the order of the bits of `Interest`.
    @usableFromInline
    enum State: UInt8 { case pending, linked, success, failure, cancelled }

    @usableFromInline
    enum Operation {
        /// Takes the step out of the payload and runs it on the completed source.
        case run
        case dropStep
        case dropValue
        /// Copies the source's value, which is of this cell's type.
        case copyValue
        /// Reports the failure in the value, a `Result`, if there is one.
        case reportFailure
        /// Says what the cell's step is called, for a report of its failure.
        case name
    }

    /// The outcomes of its source that run a cell's step, and the place where it runs. Other outcomes pass through it
    /// at once.
    @usableFromInline
    struct Interest: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt16
        @inlinable init(rawValue: UInt16) { self.rawValue = rawValue }
        @inlinable static var success: Interest { Interest(rawValue: 1) }
        @inlinable static var failure: Interest { Interest(rawValue: 2) }
        @inlinable static var cancellation: Interest { Interest(rawValue: 4) }
        /// The step is to run although its own future has been cancelled (`always`).
        @inlinable static var afterCancel: Interest { Interest(rawValue: 8) }
        @inlinable static var all: Interest { Interest(rawValue: 7) }
        /// The step runs no user's code. It runs at once, within the change, on the outcomes that are not among the
        /// above, so that a group does not lag behind its members.
        @inlinable static var atOnce: Interest { Interest(rawValue: 1 << 14) }
        // Bits 4 to 11 are those of contexts.
        /// In a completed cell: one of its callbacks runs, on another context than the ready queue.
        static let isCalling = Interest(rawValue: 1 << 12)
        /// Of an observer: nobody holds it, and it is there to hear of the outcome.
        static var listens: Interest { Interest(rawValue: 1 << 13) }
    }

    @usableFromInline
    struct Flags: OptionSet, Sendable {
        @usableFromInline let rawValue: UInt8
        @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }
        @inlinable static var hasStep: Flags { Flags(rawValue: 1) }
        /// Values of the cell's type need no release.
        @inlinable static var hasTrivialValue: Flags { Flags(rawValue: 32) }
        /// The value is the `Result` of a typed future: a failure in it is one that somebody has to hear of.
        static let holdsResult = Flags(rawValue: 64)
        /// Somebody will hear of a failure.
        static let isObserved = Flags(rawValue: 2)
        /// Completed by another future: the promise may not complete it any more.
        static let isLockedIn = Flags(rawValue: 4)
        static let isQueued = Flags(rawValue: 8)
        /// Among the loop's promises, which `shutdown()` fails.
        static let isListed = Flags(rawValue: 16)
        /// Is, or was, one of the loop's timers.
        static let isTimed = Flags(rawValue: 128)
    }
}
