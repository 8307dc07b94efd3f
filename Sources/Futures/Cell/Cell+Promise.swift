extension CellObject {
    /// Counts the promise, and lists its future for `shutdown()`.
    @usableFromInline
    func promiseWasMade() {
        let cell = cell
        cell.withLoop { loop in
            loop.checkThread()
            loop.livePromises &+= 1
            loop.promises.add(cell)
        }
    }

    @usableFromInline
    func promiseWasReleased(_ file: StaticString, _ line: UInt) {
        cell.withLoop { loop in
            loop.checkThread()
            loop.livePromises &-= 1
        }
        if !isLockedIn, cell.isOpen { fail(FutureError.brokenPromise(file: "\(file)", line: line)) }
    }

    @usableFromInline
    var isLockedIn: Bool { cell.flags.contains(.isLockedIn) }

    /// Lets another cell decide the outcome of a promise, for good.
    @usableFromInline
    func lockIn(to other: CellObject) -> Bool {
        let cell = cell
        guard !isLockedIn, cell.isOpen else { return false }
        if cell.flags.contains(.isListed) { loop.promises.remove(cell) }
        cell.flags.insert(.isLockedIn)
        cell.producer = nil
        cell.complete(using: other)
        return true
    }
}
