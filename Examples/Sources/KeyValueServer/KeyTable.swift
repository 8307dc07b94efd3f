import Glibc
import RESP

/// A hash table of keys and values, which are bytes.
///
/// The entries stand side by side: the last one takes the slot of one that is removed. So a table that was large once takes
/// no more memory and time than another. Entries with the same bucket form a chain, so an iteration over the buckets can go
/// on after the table has grown or shrunk: ``scan(_:_:)``.
struct KeyTable {
    /// As large as a line of the processor's cache, if the key and the value are short: to wait for the memory takes longer
    /// than everything else that a look-up does. What it seldom needs stands first: in a large table, which begins 48 bytes
    /// behind a line, the rest is in one line.
    struct Entry {
        /// The time in milliseconds since 1970 at which the entry ends, or `never`.
        fileprivate(set) var expires = KeyTable.never
        /// The key, and the value behind it.
        fileprivate(set) var bytes = StoredBytes()
        /// Whether `expires` is not `never`.
        fileprivate(set) var ends = false
        fileprivate var hash: UInt32 = 0
        fileprivate(set) var keyCount: UInt32 = 0
        /// The next slot of the chain. -1 at the end.
        fileprivate var next: Int32 = -1
    }

    static let never = Int64.max
    private static let fewestBuckets = 16

    private(set) var entries: [Entry] = []
    private var buckets = [Int32](repeating: -1, count: Self.fewestBuckets)
    /// What others cannot know. So they cannot choose keys that all have one bucket.
    private let secret: UInt64

    init(secret: UInt64) { self.secret = secret }

    var count: Int { entries.count }

    /// The bytes of memory that the table takes, without those of long keys and values.
    var memory: Int {
        entries.capacity * MemoryLayout<Entry>.stride + buckets.count * MemoryLayout<Int32>.stride
    }

    /// The bytes of memory that the table takes besides when there are so many more entries.
    func growth(for more: Int) -> Int {
        let count = count + more
        let slots = count > entries.capacity ? count + count / 2 - entries.capacity : 0
        let chains = count > buckets.count ? 2 * count - buckets.count : 0
        return slots * MemoryLayout<Entry>.stride + chains * MemoryLayout<Int32>.stride
    }

    /// The slot of the entry with this key, or `nil`.
    func slot(of key: RawSpan) -> Int? {
        let hash = hash(key)
        var slot = buckets[bucket(of: hash)]
        while slot >= 0 {
            let next = entries[Int(slot)].next
            if entries[Int(slot)].hash == hash, entries[Int(slot)].hasKey(key) { return Int(slot) }
            slot = next
        }
        return nil
    }

    /// Adds an entry with a key that has none, and returns its slot.
    mutating func insert(_ key: RawSpan) -> Int {
        if count == buckets.count { rebuild(buckets: 2 * buckets.count) }
        if count == entries.capacity { entries.reserveCapacity(count + max(count / 2, 16)) }
        let slot = count
        let hash = hash(key)
        let bucket = bucket(of: hash)
        var entry = Entry()
        entry.bytes.replace(from: 0, with: key)
        entry.keyCount = UInt32(key.byteCount)
        entry.hash = hash
        entry.next = buckets[bucket]
        buckets[bucket] = Int32(slot)
        entries.append(entry)
        return slot
    }

    /// Removes an entry. The last one has its slot then.
    mutating func remove(_ slot: Int) {
        redirect(slot, to: entries[slot].next)
        let last = count - 1
        if slot < last {
            redirect(last, to: Int32(slot))
            entries.swapAt(slot, last)
        }
        entries.removeLast()
        entries.giveBack()
        if count * 8 < buckets.count, buckets.count > Self.fewestBuckets {
            rebuild(buckets: buckets.count / 2)
        }
    }

    /// Lets what leads to an entry in its chain lead to another slot.
    private mutating func redirect(_ slot: Int, to other: Int32) {
        let bucket = bucket(of: entries[slot].hash)
        guard buckets[bucket] != Int32(slot) else {
            buckets[bucket] = other
            return
        }
        var before = Int(buckets[bucket])
        while entries[before].next != Int32(slot) { before = Int(entries[before].next) }
        entries[before].next = other
    }

    private func bucket(of hash: UInt32) -> Int { Int(hash) & (buckets.count - 1) }

    mutating func removeAll() { self = KeyTable(secret: secret) }

    private mutating func rebuild(buckets count: Int) {
        buckets = [Int32](repeating: -1, count: count)
        for slot in entries.indices {
            let bucket = bucket(of: entries[slot].hash)
            entries[slot].next = buckets[bucket]
            buckets[bucket] = Int32(slot)
        }
    }

    mutating func setValue(_ slot: Int, _ value: RawSpan) {
        entries[slot].bytes.replace(from: Int(entries[slot].keyCount), with: value)
    }

    /// Writes the digits of `number` over the value. Returns `false` if it has not as many bytes: then the value is spoilt.
    mutating func overwriteValue(_ slot: Int, _ number: Int) -> Bool {
        guard number >= 0 else { return false }
        let start = Int(entries[slot].keyCount)
        return entries[slot].bytes.withMutableBytes { bytes in
            var (rest, index) = (number, bytes.count)
            repeat {
                guard index > start else { return false }
                index -= 1
                bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            return index == start
        }
    }

    mutating func appendToValue(_ slot: Int, _ bytes: RawSpan) {
        entries[slot].bytes.replace(from: entries[slot].bytes.count, with: bytes)
    }

    mutating func setExpiry(_ slot: Int, _ time: Int64) {
        entries[slot].expires = time
        entries[slot].ends = time != Self.never
    }

    /// Calls `body` with the slots of the bucket at `cursor`, and returns the next cursor, 0 at the end. The first is 0.
    ///
    /// Whatever is in the table from the first call to the last is met, even if the table grows or shrinks meanwhile: the
    /// cursor counts with its highest bit first, so the buckets that one becomes when the table grows come together.
    func scan(_ cursor: UInt64, _ body: (Int) throws -> Void) rethrows -> UInt64 {
        let mask = UInt64(buckets.count - 1)
        var slot = buckets[Int(cursor & mask)]
        while slot >= 0 {
            try body(Int(slot))
            slot = entries[Int(slot)].next
        }
        return ((cursor | ~mask).bitReversed &+ 1).bitReversed
    }

    /// A hash that multiplies each word with the secret, and folds the product.
    private func hash(_ key: RawSpan) -> UInt32 {
        var hash = secret ^ UInt64(key.byteCount)
        var index = 0
        while index + 8 < key.byteCount {
            hash = mix(hash ^ key.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // The last eight bytes, some of them for the second time, or what there is.
        var last: UInt64 = 0
        if key.byteCount >= 8 {
            last = key.unsafeLoadUnaligned(fromByteOffset: key.byteCount - 8, as: UInt64.self)
        } else {
            for index in 0..<key.byteCount {
                last = last << 8 | UInt64(key.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
        }
        return UInt32(truncatingIfNeeded: mix(hash ^ last))
    }

    private func mix(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: secret | 1)
        return product.high ^ product.low
    }
}

extension UInt64 {
    fileprivate var bitReversed: UInt64 {
        var value = byteSwapped
        value = (value & 0x0F0F_0F0F_0F0F_0F0F) << 4 | (value >> 4) & 0x0F0F_0F0F_0F0F_0F0F
        value = (value & 0x3333_3333_3333_3333) << 2 | (value >> 2) & 0x3333_3333_3333_3333
        return (value & 0x5555_5555_5555_5555) << 1 | (value >> 1) & 0x5555_5555_5555_5555
    }
}

extension Array {
    /// Gives back memory of which most is not used.
    mutating func giveBack() {
        guard capacity > 64, count < capacity / 4 else { return }
        var fewer: [Element] = []
        fewer.reserveCapacity(2 * count)
        fewer += self
        self = fewer
    }
}

extension KeyTable.Entry {
    var valueCount: Int { bytes.count - Int(keyCount) }

    var key: [UInt8] { withKey { $0.array(0..<$0.byteCount) } }

    @inline(__always)
    func withKey<Result>(_ body: (RawSpan) -> Result) -> Result {
        bytes.withBytes { body($0.extracting(first: Int(keyCount))) }
    }

    @inline(__always)
    func withValue<Result>(_ body: (RawSpan) -> Result) -> Result {
        bytes.withBytes { body($0.extracting(droppingFirst: Int(keyCount))) }
    }

    @inline(__always)
    fileprivate func hasKey(_ key: RawSpan) -> Bool {
        let count = Int(keyCount)
        guard count == key.byteCount else { return false }
        guard count > 0 else { return true }
        return withKey { own in
            own.withUnsafeBytes { own in
                key.withUnsafeBytes { memcmp(own.baseAddress!, $0.baseAddress!, count) == 0 }
            }
        }
    }
}
