internal import Synchronization

/// A value that threads share, behind a lock.
package struct Locked<Value>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// The thread sanitizer does not see into the standard library's mutex. It sees this, and so that each
    /// critical section comes after the one before.
    private let isHandedOver = Atomic(false)

    package init(_ value: sending Value) { mutex = Mutex(value) }

    package borrowing func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows
        -> Result
    {
        try mutex.withLock { value in
            _ = isHandedOver.load(ordering: .acquiring)
            defer { isHandedOver.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
