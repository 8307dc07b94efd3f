extension Cell {
    /// Counts the new promise of this cell, and adds the cell to the list that `shutdown()` fails. If the loop is traced,
    /// also notes where the promise was made.
    @usableFromInline
    func promiseWasMade(_ file: StaticString, _ line: UInt) {
        pointer.withLoop { loop in
            loop.checkThread()
            loop.counts.promises &+= 1
            loop.promises.add(pointer)
            if loop.hasTraces { loop.noteSite(of: self, file, line) }
        }
    }

    /// Counts the promise out, and fails the cell with `FutureError.brokenPromise` if it is still pending.
    @usableFromInline
    func promiseWasReleased(_ file: StaticString, _ line: UInt) {
        withExtendedLifetime(self) { pointer.promiseWasReleased(file, line) }
    }

    /// Succeeds with `value` on behalf of the promise. Returns `false` if it is too late.
    @inlinable
    func succeedAsPromised<Value>(_ value: Value) -> Bool {
        withExtendedLifetime(self) {
            guard let root = pointer.promisedRoot else { return false }
            root.settle(with: value)
            return true
        }
    }

    /// Lets `producer` complete the future, and `shutdown()` fail it as it fails the future of a promise. The latter ends
    /// when the future completes or follows another future.
    func belong(to producer: Producer) {
        setProducer(producer)
        pointer.withLoop { $0.promises.add(pointer) }
    }

    /// Completes this future with the outcome of `other`, now or later. The producer of this future stays.
    /// For a future that has waited for its turn.
    func follow(_ other: Cell) {
        unlist()
        pointer.complete(using: other)
    }

    private func unlist() { if pointer.flags.contains(.isListed) { loop.promises.remove(pointer) } }

    /// Whether another future decides the outcome, so that the promise can no longer complete this cell.
    @usableFromInline
    var isLockedIn: Bool { pointer.flags.contains(.isLockedIn) }

    /// Lets `other` decide the outcome of this cell, which belongs to a promise. Returns `false` if the cell
    /// has completed or another cell decides already.
    @usableFromInline
    func lockIn(to other: Cell) -> Bool {
        let cell = pointer
        guard !isLockedIn, cell.isOpen else { return false }
        unlist()
        cell.flags.insert(.isLockedIn)
        cell.endProducer()
        cell.complete(using: other)
        return true
    }
}

extension CellPointer {
    /// The root of this cell, or `nil` if the promise can no longer complete it. Checks the thread.
    @usableFromInline
    var promisedRoot: CellPointer? { flags.contains(.isLockedIn) ? nil : openRoot }

    /// Does the same as the method of the cell. The caller keeps the cell alive.
    @usableFromInline
    func promiseWasReleased(_ file: StaticString, _ line: UInt) {
        countPromiseOut()
        if !flags.contains(.isLockedIn), isOpen {
            fail(FutureError.brokenPromise(file: "\(file)", line: line))
        }
    }

    /// Notes that the promise of this cell is gone.
    @inline(__always)
    func countPromiseOut() {
        withLoop { loop in
            loop.checkThread()
            loop.counts.promises &-= 1
            if loop.hasTraces { loop.forgetNotes(of: object) }
        }
    }
}
