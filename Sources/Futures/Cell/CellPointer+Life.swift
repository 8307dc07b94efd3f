extension CellPointer {
    @inline(__always)
    func checkThread() { withLoop { $0.checkThread() } }

    var isCompleted: Bool { state.rawValue > State.linked.rawValue }

    /// The cell that stands for this one: itself unless it is linked.
    @inline(__always)
    var root: CellPointer { state == .linked ? linkedRoot() : self }

    // Apart, which makes the way past it shorter.
    @inline(never)
    private func linkedRoot() -> CellPointer {
        var root = rootLink!
        guard root.state == .linked else { return root }
        while let next = root.rootLink { root = next }
        setRoot(root)
        return root
    }

    /// Makes `root` stand for this cell, which then owns a reference to it.
    func setRoot(_ root: CellPointer) {
        let former = rootLink
        root.retain()
        storeRootLink(root)
        former?.release()
    }

    /// Whether the cell is held by its promise alone, and nobody waits for it.
    var isAbandoned: Bool {
        isHeldOnce && (rootLink?.isAbandoned ?? (state == .pending && !hasConsumers))
    }

    /// Does the last thing that a cell does.
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

    /// Hands on the consumers of a cell that dies pending, or its root: nothing else would ever complete them.
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

    /// Releases the content of the payload. Deep inside other cells it goes to the graveyard, not down the stack.
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
            let failure = takeFailure()
            if !flags.contains(.isObserved) { reportUnhandled(failure.error, of: failure.subject) }
        }
    }
}

extension FutureError {
    /// The error for a future whose producer is gone and was not a promise.
    fileprivate static let abandoned = FutureError.brokenPromise(file: "(unknown)", line: 0)
}
