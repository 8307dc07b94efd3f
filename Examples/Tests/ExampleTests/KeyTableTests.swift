import RESP
import Testing

@testable import KeyValueServer

struct KeyTableTests {
    @Test("an entry whose key and value are short is a line of the cache")
    func size() {
        #expect(MemoryLayout<KeyTable.Entry>.stride == 64)
    }

    @Test("keys and values of all lengths are what they were set to, whatever they were before")
    func lengths() {
        var random = SystemRandomNumberGenerator()
        let store = Store(secret: random.next()) { 0 }
        var expected: [[UInt8]: [UInt8]] = [:]
        let lengths = Array(0...40) + [63, 64, 300, 1000]
        func bytes() -> [UInt8] {
            (0..<lengths.randomElement(using: &random)!).map { _ in .random(in: .min ... .max, using: &random)
            }
        }
        let keys = (0..<60).map { [UInt8($0)] + bytes() } + [[]]
        for _ in 0..<20_000 {
            let key = keys.randomElement(using: &random)!
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                if let slot = store.find(key.span.bytes) { store.remove(slot) }
                expected[key] = nil
            case 1:
                let suffix = bytes()
                store.appendToValue(store.findOrInsert(key.span.bytes), suffix.span.bytes)
                expected[key, default: []] += suffix
            case 2:
                let number = Int.random(in: -1_000_000...1_000_000, using: &random)
                store.setNumber(store.findOrInsert(key.span.bytes), number)
                expected[key] = Array(String(number).utf8)
            default:
                let value = bytes()
                store.setValue(store.findOrInsert(key.span.bytes), value.span.bytes)
                expected[key] = value
            }
            let other = keys.randomElement(using: &random)!
            let found = store.find(other.span.bytes)
            #expect(found.map { value(of: $0, in: store) } == expected[other])
            if let found { #expect(store.key(found) == other) }
        }
        let long = store.table.entries.reduce(0) { $0 + $1.bytes.ownMemory }
        #expect(store.usedMemory == store.table.memory + long)
        #expect(store.count == expected.count)
        for (key, value) in expected {
            #expect(store.find(key.span.bytes).map { self.value(of: $0, in: store) } == value)
        }
    }

    @Test("a table that was large once takes no more memory than one that never was, and ends come as before")
    func peak() {
        var time: Int64 = 0
        var expired: [[UInt8]] = []
        let store = Store(secret: .random(in: 1 ... .max)) { time }
        store.onExpiry = { expired.append($0) }
        let keys = (0..<100_000).map { Array("key\($0)".utf8) }
        for (index, key) in keys.enumerated() {
            store.setExpiry(
                store.findOrInsert(key.span.bytes), index % 3 == 0 ? KeyTable.never : Int64(index))
        }
        let peak = store.usedMemory
        #expect(peak < 100_000 * 160)
        for (index, key) in keys.enumerated().shuffled() where index % 100 != 1 {
            store.remove(store.find(key.span.bytes)!)
        }
        #expect(store.count == 1000 && store.usedMemory < peak / 20)
        time = .max - 1
        while store.removeExpired(limit: 100) {}
        let ending = stride(from: 1, to: 100_000, by: 100).filter { $0 % 3 != 0 }
        #expect(expired == ending.map { keys[$0] })
        #expect(store.count == 1000 - ending.count)
    }

    @Test("bytes that were many and are few again keep no memory")
    func shrinking() {
        var bytes = StoredBytes()
        let (long, short) = ([UInt8](repeating: 1, count: 100_000), [UInt8](repeating: 2, count: 40))
        bytes.replace(from: 0, with: long.span.bytes)
        #expect(bytes.ownMemory >= 100_000)
        bytes.replace(from: 20, with: short.span.bytes)
        #expect(bytes.count == 60 && bytes.ownMemory < 500)
        bytes.replace(from: 20, with: short.span.bytes.extracting(first: 12))
        #expect(bytes.count == 32 && bytes.ownMemory == 0)
    }

    private func value(of slot: Int, in store: Store) -> [UInt8] {
        store.table.entries[slot].withValue { $0.array(0..<$0.byteCount) }
    }
}
