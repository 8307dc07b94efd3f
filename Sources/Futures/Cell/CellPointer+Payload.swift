extension CellPointer {
    /// A box for content that does not fit into the payload. The payload then holds a reference to the box.
    @usableFromInline
    final class Box<Content> {
        @usableFromInline let content: Content
        @inlinable init(_ content: Content) { self.content = content }
    }

    @inlinable @inline(__always)
    static func fitsPayload<Content>(_: Content.Type) -> Bool {
        MemoryLayout<Content>.size <= 3 * MemoryLayout<UInt>.size && MemoryLayout<Content>.alignment <= 16
    }

    /// Puts the step, the value or the error into an empty payload.
    @inlinable @inline(__always)
    func initializePayload<Content>(_ content: Content) {
        if Self.fitsPayload(Content.self) {
            unsafe payload.initializeMemory(as: Content.self, to: content)
        } else {
            initializePayload(Box(content))
        }
    }

    @inlinable @inline(__always)
    func takePayload<Content>(as _: Content.Type) -> Content {
        if Self.fitsPayload(Content.self) {
            unsafe payload.assumingMemoryBound(to: Content.self).move()
        } else {
            takePayload(as: Box<Content>.self).content
        }
    }

    /// Returns a copy of the content of the payload. The content stays in the payload.
    @inlinable @inline(__always)
    func readPayload<Content>(as _: Content.Type) -> Content {
        if Self.fitsPayload(Content.self) {
            unsafe payload.assumingMemoryBound(to: Content.self).pointee
        } else {
            readPayload(as: Box<Content>.self).content
        }
    }

    /// Returns the value of this cell, which is the source of a step that runs. Moves the value out of the
    /// payload if only the queue of the step holds this cell, because then nothing else can read the value.
    ///
    /// A step that runs at once, within the change, must not call this method: no queue holds its source.
    @inlinable @inline(__always)
    func takeValue<Value>(as _: Value.Type) -> Value {
        !_isPOD(Value.self) && giveAway() ? takePayload(as: Value.self) : readPayload(as: Value.self)
    }

    /// Marks a cell that only one reference holds as a cell without a value. Returns `false`, and changes
    /// nothing, for any other cell.
    ///
    /// Weak references do not count here. The only one that is read for a value is that of `mapFuture`, and its
    /// callback does not run within a step of the same source.
    @usableFromInline
    func giveAway() -> Bool {
        // A `Result` stays, since a failure in it may have to be reported.
        guard isHeldOnce, !flags.contains(.holdsResult) else { return false }
        flags.insert(.hasTrivialValue)
        return true
    }

    /// The payload of a failed cell. It begins with the error, because most readers read only the error.
    struct Failure {
        let error: any Error
        /// The subject of the failure. `nil` if the producer does not know it, or if something has observed
        /// the cell.
        let subject: String?
    }

    /// Puts `error` into the empty payload, with the subject that the producer names.
    func storeError(_ error: any Error) {
        if flags.contains(.isObserved) {
            initializePayload(Failure(error: error, subject: nil))
        } else {
            initializePayload(Failure(error: error, subject: hasProducer ? producer?.subject : nil))
            withLoop { $0.noteUnobserved(object) }
        }
    }

    /// Fails the cell with `error`. The report of an unhandled failure names `subject`.
    func fail(_ error: any Error, of subject: String) {
        initializePayload(Failure(error: error, subject: subject))
        settle(as: .failure)
    }

    /// Whether the payload is empty. Code that succeeds a cell with a step calls `dropStep()` first.
    @usableFromInline
    var hasRoomForValue: Bool { !flags.contains(.hasStep) }

    @usableFromInline
    func readError() -> any Error { readPayload(as: (any Error).self) }

    @usableFromInline
    var hasSucceeded: Bool { state == .success }

    /// Returns the error of a cell that has failed or been cancelled.
    @usableFromInline
    func readFailure() -> any Error { state == .failure ? readError() : CancellationError() }

    /// Returns the outcome of a completed cell. Cancellation reads as `CancellationError`.
    @inlinable
    func readResult<Value>(as _: Value.Type) -> Result<Value, any Error> {
        hasSucceeded ? .success(readPayload(as: Value.self)) : .failure(readFailure())
    }
}
