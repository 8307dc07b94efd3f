extension CellPointer {
    /// Asks for this future to be cancelled. Returns `false` if it has completed or somebody else waits for it.
    ///
    /// Climbs to the cell that decides: the first with a producer that answers, or the last that nobody else waits for.
    /// Without an answer everything from there down to this cell is cancelled now, upstream first.
    func requestCancellation(_ options: CancelOptions = [], ignoringConsumers: Bool = false) -> Bool {
        let ignoresOthers = ignoringConsumers || options.contains(.evenIfOthersWaiting)
        guard state == .pending, ignoresOthers || !hasConsumers else { return false }
        if options.contains(.ifSupported), !isCancellationSupported(options) { return false }
        if source == nil, !hasProducer {
            cancelAlone()
            return true
        }
        if withLoop({ $0.propagation.isAskingTooDeep }) {
            retain()
            withLoop {
                $0.propagation.requests.append(.cancel(self, options, ignoringConsumers: ignoringConsumers))
            }
            return true
        }
        return askUpwards(options)
    }

    private func askUpwards(_ options: CancelOptions) -> Bool {
        var decided: Cell?
        var top = self
        while true {
            if let producer = top.producer, top != decided?.pointer {
                let object = top.object
                switch producer.cancellationRequested(by: top, options: options) {
                case .willComplete:
                    if options.contains(.immediately), state == .pending { cancelAsOne(from: self) }
                    return true
                case .cancel:
                    // The producer may be anybody's code: the way up may have changed meanwhile.
                    guard state == .pending else { return true }
                    if top != self, top.state == .pending, follows(from: top) {
                        leadPath(to: top)
                        cancelAsOne(from: top)
                        return true
                    }
                    decided = object
                    top = self
                    continue
                case .undecided:
                    break
                }
            }
            guard top != decided?.pointer, let above = top.whoIsAsked(options) else { break }
            top = above
        }
        if options.contains(.evenIfOthersWaiting) { leadPath(to: top) }
        cancelAsOne(from: top)
        return true
    }

    /// Cancels the path as one change: callbacks that run at once run afterwards, and see no path half cancelled.
    private func cancelAsOne(from top: CellPointer) {
        withLoop { loop in
            loop.propagation.asOneChange { cancelPath(from: top) }
            loop.propagation.finishChange()
        }
    }

    /// Cancels a cell that has nothing above it, such as a timer.
    private func cancelAlone() {
        withLoop { loop in
            loop.propagation.asOneChange {
                // A step that runs after a cancel has a source, in whose list its cell stands.
                assert(!runsAfterCancel)
                cancelNow(before: nil)
            }
            loop.propagation.finishChange()
        }
    }

    /// Whether a request would reach something that answers it.
    func isCancellationSupported(_ options: CancelOptions = []) -> Bool {
        var cell = state == .pending ? self : nil
        while let asked = cell {
            if asked.isTimer || asked.producer?.answersRequests == true { return true }
            cell = asked.whoIsAsked(options)
        }
        return false
    }

    /// Returns the cell that a request goes on to from this cell.
    private func whoIsAsked(_ options: CancelOptions) -> CellPointer? {
        guard !options.contains(.doNotForward), let source else { return nil }
        switch source.state {
        case .linked:
            return source
        case .pending:
            let isAlone = source.first == self && source.last == self
            // What was queued without a source is its own.
            return isAlone || options.contains(.evenIfOthersWaiting) && source != self ? source : nil
        default:
            return nil
        }
    }

    /// Whether this cell waits for `top`, at whatever distance.
    private func follows(from top: CellPointer) -> Bool {
        var cell = self
        while cell != top {
            guard let source = cell.source, source != cell else { return false }
            cell = source
        }
        return true
    }

    /// Makes each cell between this one and `top` the first to wait for its source: the path leads there.
    private func leadPath(to top: CellPointer) {
        var cell = self
        while cell != top, let source = cell.source {
            if source.state == .pending { source.moveToFront(cell) }
            cell = source
        }
    }

    /// Cancels the cells from `top` down to this one, which the caller keeps alive. Each has no other consumer than the
    /// next.
    @inline(__always)
    private func cancelPath(from top: CellPointer) {
        if top != self { top.retain() }
        top.detach()
        if top.runsAfterCancel, !top.flags.contains(.isQueued) { loop.dispatch(top.object) }
        var cell = top
        while cell != self {
            guard !cell.isCompleted else { return cell.release() }
            let below = cell.rootLink ?? cell.first
            if below != self { below?.retain() }
            cell.cancelNow(before: below)
            cell.release()
            guard let below else { return }
            cell = below
        }
        if !isCompleted { cancelNow(before: nil) }
    }

    /// Cancels this cell. Its consumer `next` is cancelled afterwards. All others hear of it as of any outcome.
    private func cancelNow(before next: CellPointer?) {
        if let root = rootLink {
            // Its root comes next. The step that would have completed it is not to run, and its producer, whose
            // release may be that of the promise, is released after the root has been cancelled.
            root.source = nil
            (root.producer, producer) = (producer, root.producer)
        } else if let next {
            next.leaveList(of: self)
            if next.runsAfterCancel {
                withLoop { $0.dispatch(next, source: self) }
            } else {
                next.release()
            }
        }
        let dropsStep = flags.contains(.hasStep) && !runsAfterCancel
        if dropsStep { flags.remove(.hasStep) }
        if state == .pending { settle(as: .cancelled) }
        // Not sooner, and not by way of the graveyard: no outcome needs the payload.
        if dropsStep { withLoop { $0.propagation.releasePayload(of: self, .dropStep) } }
    }

    var runsAfterCancel: Bool { flags.contains(.hasStep) && interest.contains(.afterCancel) }

    /// Stops waiting for the source, which is asked to cancel if nobody else waits for it.
    func leaveSource(cancelling: Bool) {
        guard let source else { return }
        source.retain()
        detach()
        if cancelling {
            withLoop { $0.propagation.requestCancellation(of: source) }
        } else {
            source.release()
        }
    }
}
