/// The slots of entries that end, by the tenth of a second in which they do.
///
/// A slot is listed at the earliest time only that was given for it. Who takes it from there looks whether the entry has
/// ended, and adds it again if not. So an entry that is given more time again and again costs nothing.
struct ExpiryWheel {
    private static let tick: Int64 = 100

    private var slots: [Int64: [Int32]] = [:]
    /// The earliest tick at which each slot is listed, or `.max`.
    private var listed: [Int64] = []
    /// The first tick that may have slots.
    private var first = Int64.max

    mutating func add(_ slot: Int, at time: Int64) {
        let tick = time / Self.tick
        if slot >= listed.count {
            listed.append(contentsOf: repeatElement(.max, count: slot + 1 - listed.count))
        }
        guard tick < listed[slot] else { return }
        listed[slot] = tick
        slots[tick, default: []].append(Int32(slot))
        first = min(first, tick)
    }

    /// Takes a slot of which the time has come. Returns `nil` if there is none.
    mutating func next(upTo time: Int64) -> Int? {
        let last = time / Self.tick
        while first < last, !slots.isEmpty {
            guard let slot = slots[first]?.popLast() else {
                slots[first] = nil
                // Far ahead, there is nothing to look for tick by tick.
                first = last - first > Int64(slots.count) ? slots.keys.min() ?? .max : first + 1
                continue
            }
            if listed[Int(slot)] == first { listed[Int(slot)] = .max }
            return Int(slot)
        }
        return nil
    }
}
