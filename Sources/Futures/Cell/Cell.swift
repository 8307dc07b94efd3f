internal import CRuntime

/// The heap object behind a future: all that it does is to keep its cell in memory.
@usableFromInline
final class CellObject {
    @exclusivity(unchecked) private var content: CellContent
    /// Not in the content: the compiler destroys that at greater cost if it has more than fifteen fields.
    @exclusivity(unchecked) private var timerSlot = SlotHeap.noSlot
    #if DEBUG
        /// Who has made the future.
        let callers: Callers
    #endif

    /// A cell in its first state. The caller fills the slot.
    @usableFromInline
    init(_ loop: borrowing LoopCore, state: Cell.State, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(
            Unmanaged.passUnretained(loop), state: state, flags: flags, behavior: behavior)
        #if DEBUG
            callers = Callers(on: loop)
        #endif
        loop.cellWasMade()
    }

    /// A pending cell of the same loop as `sibling`.
    @usableFromInline
    init(besides sibling: borrowing CellObject, flags: Cell.Flags, behavior: Cell.Behavior) {
        unsafe content = CellContent(sibling.content.loop, state: .pending, flags: flags, behavior: behavior)
        #if DEBUG
            callers = Callers(on: sibling.loop)
        #endif
        cell.withLoop { $0.cellWasMade() }
    }

    deinit {
        cell.tearDown()
        unsafe content.release()
    }

    /// The cell in this object, which must outlive the use of it.
    ///
    /// Not by `withUnsafeMutablePointer(to: &content)`: the optimizer may then believe that the object does not
    /// escape, and put it on the stack.
    @usableFromInline
    var cell: Cell { unsafe Cell(Unmanaged.passUnretained(self).toOpaque() + Cell.headerSize) }
}

/// A future's state, and at the same time a node in its source's list of consumers.
///
/// A derived future is its own continuation: the step it has to run waits in the slot, where its outcome goes
/// later, so that a `map` costs one allocation. A cell moves through these states:
///
/// - pending, with a step: waits in the list of `source`, or, once that has completed, in the ready queue;
/// - pending, without one: a promise, or a cell whose step has run and returned a future;
/// - linked: what completes this cell completes another one, its root, instead;
/// - success, failure or cancelled, for ever.
///
/// This is a pointer that owns nothing, because reference counting is most of what a `map` costs. Ownership is
/// by hand, in this folder alone: a list, the ready queue and the timers own one reference to each cell in them, a
/// queued cell owns one to its `source`, and a linked cell owns one to its root. All other pointers between cells are
/// cleared by whoever dies or completes. Public methods are given a `CellObject`, which their caller keeps alive.
@safe @usableFromInline
struct Cell: Equatable {
    /// The slot, which is the first thing in a `CellContent`.
    @usableFromInline let slot: UnsafeMutableRawPointer

    fileprivate init(_ slot: UnsafeMutableRawPointer) { unsafe self.slot = slot }

    /// The content is the first stored property of its object, and begins behind the two words of every object.
    fileprivate static var headerSize: Int { 2 * MemoryLayout<UInt>.stride }

    @usableFromInline
    static func == (a: Cell, b: Cell) -> Bool { unsafe a.slot == b.slot }

    private var content: UnsafeMutablePointer<CellContent> {
        unsafe slot.assumingMemoryBound(to: CellContent.self)
    }

    /// The outcomes come last, in the order of the bits of `Interest`.
    @usableFromInline
    enum State: UInt8 { case pending, linked, success, failure, cancelled }

    @usableFromInline
    enum Event {
        /// Take the step out of the slot and run it on the completed source.
        case run
        case dropStep
        case dropValue
        /// Copy the source's value, which is of this cell's type.
        case copyValue
        /// Report the failure in the value, a `Result`, if there is one.
        case reportFailure
        /// Say what the cell's step is called, for who reads that it has failed.
        case name
    }

    /// Which outcomes of its source run a cell's step, and where. The others pass through it at once.
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
        /// The step runs no user's code, and runs at once, within the change, on the outcomes that are not among the
        /// above: so a group does not lag behind its members.
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

@safe
private struct CellContent {
    var slot: (UInt, UInt, UInt) = (0, 0, 0)
    let loop: Unmanaged<LoopCore>
    let behavior: Cell.Behavior
    var producer: Unmanaged<Producer>?
    var source: Cell?
    var previous: Cell?
    var next: Cell?
    var first: Cell?
    var last: Cell?
    var state: Cell.State
    var flags: Cell.Flags
    var interest: Cell.Interest = []

    init(
        _ loop: Unmanaged<LoopCore>, state: Cell.State, flags: Cell.Flags, behavior: Cell.Behavior
    ) {
        unsafe self.loop = loop
        self.behavior = behavior
        self.state = state
        self.flags = flags
    }

    /// What it has references to.
    func release() {
        behavior.release()
        unsafe producer?.release()
    }
}

extension Cell {
    var state: State {
        get { unsafe content.pointee.state }
        nonmutating set { unsafe content.pointee.state = newValue }
    }

    var interest: Interest {
        get { unsafe content.pointee.interest }
        nonmutating set { unsafe content.pointee.interest = newValue }
    }

    var flags: Flags {
        get { unsafe content.pointee.flags }
        nonmutating set { unsafe content.pointee.flags = newValue }
    }

    /// The slot of a cell that is one of the loop's timers.
    var timerSlot: UInt32 {
        get { unsafe slot.load(fromByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self) }
        nonmutating set {
            unsafe slot.storeBytes(
                of: newValue, toByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self)
        }
    }

    /// What this cell waits for: the cell in whose list it stands, or the one that is linked to it.
    var source: Cell? {
        get { unsafe content.pointee.source }
        nonmutating set { unsafe content.pointee.source = newValue }
    }

    // Neighbours in the list of `source`, in the ready queue, or among the loop's promises.
    var previous: Cell? {
        get { unsafe content.pointee.previous }
        nonmutating set { unsafe content.pointee.previous = newValue }
    }

    var next: Cell? {
        get { unsafe content.pointee.next }
        nonmutating set { unsafe content.pointee.next = newValue }
    }

    /// The first of this cell's own consumers, or, when it is linked, the root.
    var first: Cell? {
        get { unsafe content.pointee.first }
        nonmutating set { unsafe content.pointee.first = newValue }
    }

    var last: Cell? {
        get { unsafe content.pointee.last }
        nonmutating set { unsafe content.pointee.last = newValue }
    }

    var producer: Producer? {
        get { unsafe content.pointee.producer?.takeUnretainedValue() }
        nonmutating set {
            let former = unsafe content.pointee.producer
            unsafe content.pointee.producer = newValue.map { unsafe Unmanaged.passRetained($0) }
            unsafe former?.release()
        }
    }

    /// The producer, with the reference that the cell had to it.
    func takeProducer() -> Producer? {
        defer { unsafe content.pointee.producer = nil }
        return unsafe content.pointee.producer?.takeRetainedValue()
    }

    var hasProducer: Bool { unsafe content.pointee.producer != nil }

    /// Whether the cell itself is a timer that completes, and nothing else does.
    var isTimer: Bool { flags.contains(.isTimed) && !hasProducer }

    var behavior: Behavior { unsafe content.pointee.behavior }

    var loop: LoopCore { unsafe content.pointee.loop.takeUnretainedValue() }

    /// The loop, without the reference counting that `loop` costs.
    @inline(__always)
    func withLoop<Result>(_ body: (LoopCore) -> Result) -> Result {
        unsafe content.pointee.loop._withUnsafeGuaranteedRef(body)
    }

    func isOf(_ loop: LoopCore) -> Bool {
        unsafe content.pointee.loop.toOpaque() == Unmanaged.passUnretained(loop).toOpaque()
    }

    /// The object that keeps this cell in memory.
    var object: CellObject { unsafe reference.takeUnretainedValue() }

    var isHeldOnce: Bool {
        var reference = unsafe reference
        return unsafe withUnsafeMutableBytes(of: &reference) { bytes in
            unsafe isKnownUniquelyReferenced(&bytes.assumingMemoryBound(to: CellObject.self)[0])
        }
    }

    func retain() { unsafe _ = reference.retain() }

    /// The same for a cell that has just been made: nobody else can count at the same time, and atomic operations are a
    /// third of what a `map` takes.
    func retainNew() { unsafe _ = swift_nonatomic_retain(address) }

    /// Releases a reference that has been counted here. If that is the only one, nobody else can count.
    func release() {
        if isHeldOnce { unsafe swift_nonatomic_release(address) } else { unsafe reference.release() }
    }

    private var reference: Unmanaged<CellObject> { unsafe Unmanaged.fromOpaque(address) }
    private var address: UnsafeMutableRawPointer { unsafe slot - Cell.headerSize }
}
