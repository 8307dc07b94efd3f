internal import CRuntime

/// The address of a cell. It owns nothing, because reference counting is most of what a `map` costs.
///
/// Ownership is by hand. A list, the ready queue and the timers own one reference to each cell in them. A queued cell
/// owns one to its `source`, and a linked cell owns one to its root. The cell that dies or completes clears all other
/// pointers between cells. Public methods are given a ``Cell``, which their caller keeps alive.
@safe @usableFromInline
struct CellPointer: Equatable {
    @usableFromInline typealias State = Cell.State
    @usableFromInline typealias Operation = Cell.Operation
    @usableFromInline typealias Interest = Cell.Interest
    @usableFromInline typealias Flags = Cell.Flags
    @usableFromInline typealias Behavior = Cell.Behavior

    /// The payload, the first thing in a `CellContent`.
    @usableFromInline let payload: UnsafeMutableRawPointer

    init(_ payload: UnsafeMutableRawPointer) { unsafe self.payload = payload }

    /// The content is the first stored property of its object, and begins behind the two words of every object.
    static var headerSize: Int { 2 * MemoryLayout<UInt>.stride }

    @usableFromInline
    static func == (a: CellPointer, b: CellPointer) -> Bool { unsafe a.payload == b.payload }

    private var content: UnsafeMutablePointer<CellContent> {
        unsafe payload.assumingMemoryBound(to: CellContent.self)
    }
}

/// The content of a cell.
@safe
struct CellContent {
    var payload: (UInt, UInt, UInt) = (0, 0, 0)
    let loop: Unmanaged<LoopCore>
    let behavior: Cell.Behavior
    var producer: Unmanaged<Producer>?
    var source: CellPointer?
    var previous: CellPointer?
    var next: CellPointer?
    var first: CellPointer?
    var last: CellPointer?
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

    /// Releases everything that it has references to.
    func release() {
        behavior.release()
        unsafe producer?.release()
    }
}

extension CellPointer {
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

    /// The payload of a cell that is one of the loop's timers.
    var timerSlot: UInt32 {
        get { unsafe payload.load(fromByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self) }
        nonmutating set {
            unsafe payload.storeBytes(
                of: newValue, toByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self)
        }
    }

    /// The cell that this one waits for: the cell that has it in its list, or the one that is linked to it.
    var source: CellPointer? {
        get { unsafe content.pointee.source }
        nonmutating set { unsafe content.pointee.source = newValue }
    }

    // Neighbours in the list of `source`, in the ready queue, or among the loop's promises.
    var previous: CellPointer? {
        get { unsafe content.pointee.previous }
        nonmutating set { unsafe content.pointee.previous = newValue }
    }

    var next: CellPointer? {
        get { unsafe content.pointee.next }
        nonmutating set { unsafe content.pointee.next = newValue }
    }

    /// The cell that stands for this one, if this one is linked. A linked cell has no consumers, and keeps its root in
    /// the place of the first.
    var rootLink: CellPointer? { state == .linked ? first : nil }

    /// Sets the root of a cell that is linked from now on.
    func storeRootLink(_ root: CellPointer) {
        first = root
        state = .linked
    }

    /// The first of this cell's own consumers.
    var first: CellPointer? {
        get { unsafe content.pointee.first }
        nonmutating set { unsafe content.pointee.first = newValue }
    }

    var last: CellPointer? {
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

    /// Takes the producer, with the reference that the cell had to it.
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
    var object: Cell { unsafe reference.takeUnretainedValue() }

    var isHeldOnce: Bool {
        var reference = unsafe reference
        return unsafe withUnsafeMutableBytes(of: &reference) { bytes in
            unsafe isKnownUniquelyReferenced(&bytes.assumingMemoryBound(to: Cell.self)[0])
        }
    }

    func retain() { unsafe _ = reference.retain() }

    /// Retains a cell that has just been made. Nobody else can count at the same time, and atomic operations are a
    /// third of the time that a `map` takes.
    func retainNew() { unsafe _ = swift_nonatomic_retain(address) }

    /// Releases a reference that has been counted here. If that is the only one, nobody else can count.
    func release() {
        if isHeldOnce { unsafe swift_nonatomic_release(address) } else { unsafe reference.release() }
    }

    private var reference: Unmanaged<Cell> { unsafe Unmanaged.fromOpaque(address) }
    private var address: UnsafeMutableRawPointer { unsafe payload - CellPointer.headerSize }
}
