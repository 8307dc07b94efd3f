/// The loops of a world: which loops have something to do now, and when the next timer of each loop is due.
struct LoopSchedule {
    /// The drivers by their slots. `nil` for a loop that has ended.
    private var drivers: [VirtualDriver?] = []
    /// The time of the next timer in each slot. `.max` if the loop has no timer, or if the host is paused.
    private var deadlines: [UInt64] = []
    /// The slots of the loops that have something to do, each once.
    private var ready: [Int] = []
    private var isReady: [Bool] = []

    /// Adds a loop, and returns its slot.
    mutating func add(_ driver: VirtualDriver) -> Int {
        drivers.append(driver)
        deadlines.append(.max)
        isReady.append(false)
        return drivers.count - 1
    }

    mutating func remove(_ slot: Int) {
        drivers[slot] = nil
        deadlines[slot] = .max
    }

    mutating func setDeadline(_ time: UInt64, of slot: Int) { deadlines[slot] = time }

    mutating func markReady(_ slot: Int) {
        guard !isReady[slot] else { return }
        isReady[slot] = true
        ready.append(slot)
    }

    var readyCount: Int { ready.count }

    /// Removes and returns the ready loop at `index`. Returns `nil` if it has ended.
    mutating func takeReady(at index: Int) -> VirtualDriver? {
        let slot = ready[index]
        ready[index] = ready[ready.count - 1]
        ready.removeLast()
        isReady[slot] = false
        return drivers[slot]
    }

    /// The time of the next timer of any loop. `.max` if no loop has a timer.
    var nextDeadline: UInt64 {
        deadlines.min() ?? .max
    }

    /// Marks the loops whose timers are due as ready.
    mutating func markDue(at now: UInt64) {
        for slot in deadlines.indices where deadlines[slot] <= now { markReady(slot) }
    }

    /// All loops that have not ended.
    var all: [VirtualDriver] { drivers.compactMap { $0 } }
}
