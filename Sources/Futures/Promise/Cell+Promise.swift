extension Cell {
    /// Counts the new promise of this cell, and adds the cell to the list that `shutdown()` fails.
    func promiseWasMade() {
        let cell = pointer
        cell.withLoop { loop in
            loop.checkThread()
            loop.counts.promises &+= 1
            loop.promises.add(cell)
        }
    }

    /// Does the same as `promiseWasMade()`. In a debug build, also notes for `dump()` where the promise was
    /// made.
    @usableFromInline
    func promiseWasMade(_ file: StaticString, _ line: UInt) {
        promiseWasMade()
        #if DEBUG
            loop.promiseSites[ObjectIdentifier(self)] = (file, line)
        #endif
    }

    /// Counts the promise out, and fails the cell with `FutureError.brokenPromise` if it is still pending.
    @usableFromInline
    func promiseWasReleased(_ file: StaticString, _ line: UInt) {
        pointer.withLoop { loop in
            loop.checkThread()
            loop.counts.promises &-= 1
            #if DEBUG
                loop.promiseSites[ObjectIdentifier(self)] = nil
            #endif
        }
        if !isLockedIn, pointer.isOpen { fail(FutureError.brokenPromise(file: "\(file)", line: line)) }
    }

    /// Lets `shutdown()` fail the future as it fails the future of a promise. This ends when the future
    /// completes or follows another future.
    func failAtShutdown() { pointer.withLoop { $0.promises.add(pointer) } }

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
