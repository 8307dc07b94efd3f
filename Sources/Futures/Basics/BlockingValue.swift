internal import Dispatch

/// A value that a blocked thread waits for. Another thread sets it.
final class BlockingValue<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    /// Waits for the value. Returns `nil` if `nanoseconds` have passed first.
    func wait(nanoseconds: UInt64? = nil) -> Value? {
        let timeout = nanoseconds.map { DispatchTime.now() + .nanoseconds(Int(clamping: $0)) }
        _ = isThere.wait(timeout: timeout ?? .distantFuture)
        return value.withLock { $0 }
    }
}
