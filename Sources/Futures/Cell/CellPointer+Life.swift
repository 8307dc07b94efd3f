extension CellPointer {
    @inline(__always)
    func checkThread() { withLoop { $0.checkThread() } }

    var isCompleted: Bool { state.rawValue > State.linked.rawValue }

    /// The root of a linked cell, or this cell itself if it is not linked.
    @inline(__always)
    var root: CellPointer { state == .linked ? linkedRoot() : self }

    // Not inlined, so that the code of the frequent case stays short.
    @inline(never)
    private func linkedRoot() -> CellPointer {
        var root = rootLink!
        guard root.state == .linked else { return root }
        while let next = root.rootLink { root = next }
        setRoot(root)
        return root
    }

    /// Links this cell to `root`. This cell then owns a reference to `root`.
    func setRoot(_ root: CellPointer) {
        let former = rootLink
        root.retain()
        first = root
        state = .linked
        former?.release()
    }

    /// Whether only the promise holds the cell, and nothing waits for the cell.
    var isAbandoned: Bool { isHeldOnce && (rootLink?.isAbandoned ?? (state == .pending && !hasConsumers)) }

    /// Releases what the cell holds. Called when the cell is freed.
    @inline(__always)
    func tearDown() {
        checkThread()
        if flags.contains(.isListed) { withLoop { $0.promises.remove(self) } }
        if first != nil { abandon() }
        if holdsSomething { emptyPayload() }
        withLoop { $0.cellWasFreed() }
    }

    /// Whether the content of the payload has to be released.
    @inline(__always)
    private var holdsSomething: Bool {
        switch state {
        case .success: !flags.contains(.hasTrivialValue)
        case .failure: true
        default: flags.contains(.hasStep)
        }
    }

    /// Ends what waits for a cell that is freed while it is pending or linked: its consumers or its root.
    /// Nothing else would ever complete them.
    @inline(never)
    private func abandon() {
        if let root = rootLink {
            if root.source == self {
                root.source = nil
                if root.state == .pending { root.fail(FutureError.abandoned) }
            }
            withLoop { $0.propagation.release(root) }
        } else {
            let heir = Cell.plain(loop, state: .pending, of: Never.self)
            var next = first
            (heir.pointer.first, heir.pointer.last) = (first, last)
            first = nil
            while let heirs = next {
                heirs.source = heir.pointer
                next = heirs.next
            }
            heir.pointer.flags.insert(.isObserved)
            if let forever = producer as? Forever { return forever.adopt(heir) }
            heir.fail(FutureError.abandoned)
        }
    }

    /// Releases the content of the payload. If too many releases are nested on the stack, moves the content
    /// to the graveyard instead.
    @inline(never)
    private func emptyPayload() {
        if flags.contains(.hasStep) {
            flags.remove(.hasStep)
            withLoop { $0.propagation.releasePayload(of: self, .dropStep) }
        } else if state == .success {
            if flags.contains(.holdsResult), !flags.contains(.isObserved) {
                behavior(.reportFailure, self, self)
            }
            withLoop { $0.propagation.releasePayload(of: self, .dropValue) }
        } else if state == .failure {
            let failure = takePayload(as: Failure.self)
            if !flags.contains(.isObserved) { reportUnhandled(failure.error, of: failure.subject) }
        }
    }
}

extension FutureError {
    /// The error of a future if its producer is gone, and was not a promise.
    fileprivate static let abandoned = FutureError.brokenPromise(file: "(unknown)", line: 0)
}
