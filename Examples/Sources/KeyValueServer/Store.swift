import RESP

/// The keys and values, and what ends when. A class, since a structure would be copied for many a look into it.
final class Store {
    @exclusivity(unchecked) private(set) var table: KeyTable
    @exclusivity(unchecked) private var expiring = ExpiryHeap()
    /// The milliseconds since 1970.
    private let clock: () -> Int64
    /// Called with the key of an entry that has ended.
    var onExpiry: ([UInt8]) -> Void = { _ in }
    /// The bytes of memory of long keys and values.
    @exclusivity(unchecked) private var longBytes = 0
    @exclusivity(unchecked) private(set) var expiredCount = 0
    @exclusivity(unchecked) private(set) var expiringCount = 0

    init(secret: UInt64, clock: @escaping () -> Int64) {
        table = KeyTable(secret: secret)
        self.clock = clock
    }

    var now: Int64 { clock() }

    var count: Int { table.count }
    /// The bytes of memory that everything takes.
    var usedMemory: Int { table.memory + expiring.memory + longBytes }

    /// The slot of the entry with this key, or `nil`. An entry that has ended is there no more.
    func find(_ key: RawSpan) -> Int? {
        guard let slot = table.slot(of: key) else { return nil }
        // Most entries do not end. Then nobody has to know what time it is.
        guard table.entries[slot].ends, table.entries[slot].expires <= now else { return slot }
        expire(slot)
        return nil
    }

    /// The slot of the entry with this key, which is made with an empty value if there is none.
    func findOrInsert(_ key: RawSpan) -> Int {
        if let slot = find(key) { return slot }
        let slot = table.insert(key)
        longBytes += table.entries[slot].bytes.ownMemory
        return slot
    }

    func valueCount(_ slot: Int) -> Int { table.entries[slot].valueCount }
    func keyCount(_ slot: Int) -> Int { Int(table.entries[slot].keyCount) }
    func key(_ slot: Int) -> [UInt8] { table.entries[slot].key }
    func expiry(_ slot: Int) -> Int64 { table.entries[slot].expires }

    /// Adds the value to an answer, without a copy of it in between.
    func appendValue(_ slot: Int, to answer: inout [UInt8]) {
        table.entries[slot].withValue { answer.appendBulk($0) }
    }

    func setValue(_ slot: Int, _ value: RawSpan) {
        change(slot) { $0.setValue(slot, value) }
    }

    func appendToValue(_ slot: Int, _ bytes: RawSpan) {
        change(slot) { $0.appendToValue(slot, bytes) }
    }

    @inline(__always)
    private func change(_ slot: Int, _ body: (inout KeyTable) -> Void) {
        let before = table.entries[slot].bytes.ownMemory
        body(&table)
        longBytes += table.entries[slot].bytes.ownMemory - before
    }

    /// Sets when the entry ends. `KeyTable.never` means that it does not.
    func setExpiry(_ slot: Int, _ time: Int64) {
        let before = table.entries[slot].expires
        guard before != time else { return }
        expiringCount += (time == KeyTable.never ? 0 : 1) - (before == KeyTable.never ? 0 : 1)
        table.setExpiry(slot, time)
        if time != KeyTable.never { expiring.add(slot, at: time) }
    }

    func remove(_ slot: Int) {
        longBytes -= table.entries[slot].bytes.ownMemory
        if table.entries[slot].expires != KeyTable.never { expiringCount -= 1 }
        expiring.remove(slot, movingHere: count - 1)
        table.remove(slot)
    }

    func removeAll() {
        table.removeAll()
        expiring = ExpiryHeap()
        (longBytes, expiringCount) = (0, 0)
    }

    private func expire(_ slot: Int) {
        expiredCount += 1
        onExpiry(key(slot))
        remove(slot)
    }

    /// Removes up to `limit` of the entries that have ended. Returns whether there may be more.
    func removeExpired(limit: Int) -> Bool {
        let now = now
        for _ in 0..<limit {
            guard let slot = expiring.next(upTo: now) else { return false }
            let expires = table.entries[slot].expires
            if expires <= now {
                expire(slot)
            } else if expires != KeyTable.never {
                expiring.add(slot, at: expires)
            }
        }
        return true
    }
}

extension Store {
    /// Whether the entry has not ended.
    func isPresent(_ slot: Int) -> Bool {
        let expires = table.entries[slot].expires
        return expires == KeyTable.never || expires > now
    }

    /// The number that the value is, or `nil`.
    func number(_ slot: Int) -> Int? {
        table.entries[slot].withValue { $0.integer(in: 0..<$0.byteCount) }
    }

    func setNumber(_ slot: Int, _ number: Int) {
        // Mostly, a number that is counted has as many digits as before.
        if table.overwriteValue(slot, number) { return }
        var digits: [UInt8] = []
        digits.appendNumber(number)
        setValue(slot, digits.span.bytes)
    }

    /// Adds the command that makes this entry.
    func appendSet(_ slot: Int, to record: inout [UInt8]) {
        let expires = table.entries[slot].expires
        record.appendArray(count: expires == KeyTable.never ? 3 : 5)
        record.appendBulk("SET")
        table.entries[slot].withKey { record.appendBulk($0) }
        table.entries[slot].withValue { record.appendBulk($0) }
        guard expires != KeyTable.never else { return }
        record.appendBulk("PXAT")
        record.appendBulk(String(expires))
    }
}
