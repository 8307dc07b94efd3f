import Testing

@testable import KeyValueServer

struct ExpiryHeapTests {
    @Test("slots come when their time has, the earliest first, whatever was added and taken before")
    func order() {
        var (heap, listed) = (ExpiryHeap(), [Int: Int64]())
        var random = SystemRandomNumberGenerator()
        var count = 500
        for _ in 0..<20_000 {
            if Int.random(in: 0..<300, using: &random) == 0 { count = 500 }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                // The slot of an entry that is removed is that of the last one then.
                let (slot, last) = (Int.random(in: 0..<count, using: &random), count - 1)
                heap.remove(slot, movingHere: last)
                listed[slot] = listed[last]
                listed[last] = nil
                count = max(last, 1)
            case 1, 2:
                let (slot, time) = (
                    Int.random(in: 0..<count, using: &random), Int64.random(in: 0..<1000, using: &random)
                )
                heap.add(slot, at: time)
                // Who is given more time is looked at when the first one is over.
                listed[slot] = min(listed[slot] ?? .max, time)
            default:
                let now = Int64.random(in: 0..<1000, using: &random)
                let slot = heap.next(upTo: now)
                let earliest = listed.values.min() ?? .max
                #expect((slot != nil) == (earliest <= now))
                if let slot { #expect(listed.removeValue(forKey: slot) == earliest) }
            }
        }
    }

    @Test(
        "a million slots that end at different times take no longer each than a few", .timeLimit(.minutes(1)))
    func many() {
        var heap = ExpiryHeap()
        for slot in 0..<1_000_000 { heap.add(slot, at: Int64(slot) * 1000 % 999_983_000) }
        var count = 0
        while heap.next(upTo: .max) != nil { count += 1 }
        #expect(count == 1_000_000)
    }
}
