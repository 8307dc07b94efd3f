extension Cell {
    /// Counts the promise, and lists its future for `shutdown()`.
    @usableFromInline
    func promiseWasMade() {
        let cell = pointer
        cell.withLoop { loop in
            loop.checkThread()
            loop.counts.promises &+= 1
            loop.promises.add(cell)
        }
    }

    #if DEBUG
        /// Where the promise was made, for `dump()`.
        @usableFromInline
        func noteSite(_ file: StaticString, _ line: UInt) {
            loop.promiseSites[ObjectIdentifier(self)] = (file, line)
        }
    #endif

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

    /// Lets `shutdown()` fail the future like a promise's future, until it completes or follows another one.
    func failAtShutdown() { pointer.withLoop { $0.promises.add(pointer) } }

    /// Gives a future that waited for its turn the outcome of `other` from now on. Its producer stays.
    func follow(_ other: Cell) {
        unlist()
        pointer.complete(using: other)
    }

    private func unlist() {
        if pointer.flags.contains(.isListed) { loop.promises.remove(pointer) }
    }

    @usableFromInline
    var isLockedIn: Bool { pointer.flags.contains(.isLockedIn) }

    /// Lets another cell decide the outcome of a promise, for good.
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
