internal import Synchronization

/// A value that several threads share, with a lock.
package struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// A flag for the thread sanitizer, which cannot see the operations of the standard library's mutex. From
    /// the operations on this flag it learns that each critical section happens after the one before.
    private let isHandedOver = Atomic(false)

    package init(_ value: sending Value) { mutex = Mutex(value) }

    /// Calls `body` with the value while the lock is held.
    package borrowing func withLock<R: Sendable, E>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        try mutex.withLock { value throws(E) in
            _ = isHandedOver.load(ordering: .acquiring)
            defer { isHandedOver.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
