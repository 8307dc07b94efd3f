internal import CFuturesRuntime

/// The address of a cell. It owns nothing, because reference counting is most of the cost of a `map`.
///
/// The code counts references by hand. A list of consumers, the ready queue and the timers own one reference
/// to each of their cells. A queued cell owns one reference to its `source`. A linked cell owns one reference
/// to its root. No other pointer between cells owns anything: a cell clears such pointers to itself when it
/// completes or is freed. Public methods work on a ``Cell``, which their caller keeps alive.
@safe @usableFromInline
struct CellPointer: Equatable {
    @usableFromInline typealias State = Cell.State
    @usableFromInline typealias Operation = Cell.Operation
    @usableFromInline typealias Interest = Cell.Interest
    @usableFromInline typealias Flags = Cell.Flags
    @usableFromInline typealias Behavior = Cell.Behavior

    /// The address of the payload, which is the first field of `CellContent`.
    @usableFromInline let payload: UnsafeMutableRawPointer

    init(_ payload: UnsafeMutableRawPointer) { unsafe self.payload = payload }

    /// Creates the pointer to `cell`, and gives the caller's reference to the cell to whoever uses the pointer.
    @inline(__always)
    init(givenAway cell: consuming Cell) {
        self = cell.pointer
        unsafe _ = Unmanaged.passRetained(cell)
    }

    /// The size of the header of an object, in bytes. The content follows the header, because it is the first
    /// stored property of the cell.
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
    var behavior: Cell.Behavior
    var producer: Unmanaged<Producer>?
    var source: CellPointer?
    var previous: CellPointer?
    var next: CellPointer?
    var first: CellPointer?
    var last: CellPointer?
    var state: Cell.State
    var flags: Cell.Flags
    var interest: Cell.Interest = []
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

    /// The slot of the cell in the heap of timers, or `SlotHeap.noSlot` if the cell is not in the heap.
    var timerSlot: UInt32 {
        get { unsafe payload.load(fromByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self) }
        nonmutating set {
            unsafe payload.storeBytes(
                of: newValue, toByteOffset: MemoryLayout<CellContent>.size, as: UInt32.self)
        }
    }

    /// The cell that this cell waits for. It has this cell in its list of consumers, or it is linked to this
    /// cell.
    var source: CellPointer? {
        get { unsafe content.pointee.source }
        nonmutating set { unsafe content.pointee.source = newValue }
    }

    // The neighbours in the list of `source`, in the ready queue, or in the loop's list of promises.
    var previous: CellPointer? {
        get { unsafe content.pointee.previous }
        nonmutating set { unsafe content.pointee.previous = newValue }
    }

    var next: CellPointer? {
        get { unsafe content.pointee.next }
        nonmutating set { unsafe content.pointee.next = newValue }
    }

    /// The root of this cell, or `nil` if this cell is not linked. A linked cell has no consumers, so `first`
    /// holds its root.
    var rootLink: CellPointer? { state == .linked ? first : nil }

    /// The first of this cell's consumers. In a linked cell, the root.
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

    /// Removes and returns the producer. The caller takes over the cell's reference to the producer.
    func takeProducer() -> Producer? {
        defer { unsafe content.pointee.producer = nil }
        return unsafe content.pointee.producer?.takeRetainedValue()
    }

    var hasProducer: Bool { unsafe content.pointee.producer != nil }

    /// Whether the cell is a timer that completes without a producer.
    var isTimer: Bool { flags.contains(.isTimed) && !hasProducer }

    var behavior: Behavior {
        get { unsafe content.pointee.behavior }
        nonmutating set { unsafe content.pointee.behavior = newValue }
    }

    var loop: LoopCore { unsafe content.pointee.loop.takeUnretainedValue() }

    /// Calls `body` with the loop. Unlike `loop`, counts no reference.
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

    /// Retains a cell that has just been made, without an atomic operation. No other thread can retain the
    /// cell at the same time. Atomic operations take a third of the time of a `map`.
    func retainNew() { unsafe _ = swift_nonatomic_retain(address) }

    /// Releases a reference that `retain` or `retainNew` has counted. Needs no atomic operation if the
    /// reference is the only one.
    func release() {
        if isHeldOnce { unsafe swift_nonatomic_release(address) } else { unsafe reference.release() }
    }

    private var reference: Unmanaged<Cell> { unsafe Unmanaged.fromOpaque(address) }
    private var address: UnsafeMutableRawPointer { unsafe payload - CellPointer.headerSize }
}
