internal import Synchronization

/// Numbers that are unique in the process. Each loop takes a block of them at a time, so that loops rarely
/// write to the counter that they share.
struct UniqueNumbers {
    static let blockSize: UInt64 = 1024
    private static let lastTaken = Atomic<UInt64>(0)

    private var last: UInt64 = 0
    private var lastOfBlock: UInt64 = 0

    mutating func next() -> UInt64 {
        if last == lastOfBlock {
            lastOfBlock = Self.lastTaken.add(Self.blockSize, ordering: .relaxed).newValue
            last = lastOfBlock - Self.blockSize
        }
        last += 1
        return last
    }
}
