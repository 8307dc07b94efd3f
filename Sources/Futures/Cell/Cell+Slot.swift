extension Cell {
    /// What does not fit the slot lives in a box that the slot points to.
    @usableFromInline
    final class Box<Content> {
        @usableFromInline let content: Content
        @inlinable init(_ content: Content) { self.content = content }
    }

    @inlinable @inline(__always)
    static func fitsSlot<Content>(_: Content.Type) -> Bool {
        MemoryLayout<Content>.size <= 3 * MemoryLayout<UInt>.size && MemoryLayout<Content>.alignment <= 16
    }

    /// Puts the step, the value or the error into an empty slot.
    @inlinable @inline(__always)
    func initializeSlot<Content>(_ content: Content) {
        if Self.fitsSlot(Content.self) {
            unsafe slot.initializeMemory(as: Content.self, to: content)
        } else {
            initializeSlot(Box(content))
        }
    }

    @inlinable @inline(__always)
    func takeSlot<Content>(as _: Content.Type) -> Content {
        if Self.fitsSlot(Content.self) {
            unsafe slot.assumingMemoryBound(to: Content.self).move()
        } else {
            takeSlot(as: Box<Content>.self).content
        }
    }

    /// A copy of what the slot holds, left in place.
    @inlinable @inline(__always)
    func readSlot<Content>(as _: Content.Type) -> Content {
        if Self.fitsSlot(Content.self) {
            unsafe slot.assumingMemoryBound(to: Content.self).pointee
        } else {
            readSlot(as: Box<Content>.self).content
        }
    }

    /// What a failed cell has in its slot. It begins with the error, which most want to read only.
    struct Failure {
        let error: any Error
        /// What has failed, if its producer knows and it looks as if nobody will hear of it.
        let subject: String?
    }

    func storeError(_ error: any Error) {
        let subject = hasProducer && !flags.contains(.isObserved) ? producer?.subject : nil
        initializeSlot(Failure(error: error, subject: subject))
    }

    /// Fails, which `subject` has done.
    func fail(_ error: any Error, of subject: String) {
        initializeSlot(Failure(error: error, subject: subject))
        settle(as: .failure)
    }

    func takeFailure() -> Failure { takeSlot(as: Failure.self) }

    @usableFromInline
    func readError() -> any Error { readSlot(as: (any Error).self) }

    @usableFromInline
    var hasSucceeded: Bool { state == .success }

    /// The error of a cell that has failed or been cancelled.
    @usableFromInline
    func readFailure() -> any Error { state == .failure ? readError() : CancellationError() }

    /// The outcome of a completed cell. Cancellation reads as `CancellationError`.
    @inlinable
    func readResult<Value>(as _: Value.Type) -> Result<Value, any Error> {
        hasSucceeded ? .success(readSlot(as: Value.self)) : .failure(readFailure())
    }
}
