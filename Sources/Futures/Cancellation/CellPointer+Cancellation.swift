extension CellPointer {
    /// Asks for this cell to be cancelled. Returns `false` if the cell has completed or something else waits
    /// for it.
    ///
    /// The request goes upstream to the cell that decides. That is the first cell with a producer that
    /// answers, or the last cell that nothing else waits for. If no producer answers, all cells from that one
    /// down to this one are cancelled now, the uppermost first.
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

    /// Asks the producers of this cell and of the cells upstream, and cancels what their answers allow.
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
                    // The producer may have called code of users, which may have changed the way upstream.
                    guard state == .pending else { return true }
                    if top != self, top.state == .pending, waits(for: top) {
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

    /// Cancels the path from `top` to this cell as one change. Callbacks that run at once run afterwards, so
    /// they never see a path that is cancelled in part.
    private func cancelAsOne(from top: CellPointer) {
        withLoop { $0.propagation.change { cancelPath(from: top) } }
    }

    /// Cancels a cell that has nothing upstream, such as a timer. Apart from `cancelAsOne`, this takes fewer
    /// instructions.
    private func cancelAlone() { withLoop { $0.propagation.change { cancelNow(before: nil) } } }

    /// Returns whether a request to cancel would reach something that answers the request.
    func isCancellationSupported(_ options: CancelOptions = []) -> Bool {
        var cell = state == .pending ? self : nil
        while let asked = cell {
            if asked.isTimer || asked.producer?.answersRequests == true { return true }
            cell = asked.whoIsAsked(options)
        }
        return false
    }

    /// Returns the next cell upstream that a request to cancel goes on to, or `nil` if it goes no further.
    private func whoIsAsked(_ options: CancelOptions) -> CellPointer? {
        guard !options.contains(.doNotForward), let source else { return nil }
        switch source.state {
        case .linked:
            return source
        case .pending:
            let isAlone = source.first == self && source.last == self
            // A cell that was queued without a source has itself as its source.
            return isAlone || options.contains(.evenIfOthersWaiting) && source != self ? source : nil
        default:
            return nil
        }
    }

    /// Makes each cell on the path to `top` the first consumer of its source. `cancelPath` follows the first
    /// consumers.
    private func leadPath(to top: CellPointer) {
        var cell = self
        while cell != top, let source = cell.source {
            if source.state == .pending { source.moveToFront(cell) }
            cell = source
        }
    }

    /// Cancels the cells from `top` down to this one. The caller keeps this cell alive. The next cell of the
    /// path is the first consumer of each cell.
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

    /// Cancels this cell. The caller cancels its consumer `next` afterwards. All other consumers get the
    /// cancellation as they get any outcome.
    private func cancelNow(before next: CellPointer?) {
        if let root = rootLink {
            // The root is cancelled next. The step that would have completed it must not run. The release of
            // this cell's producer may release the promise, so the root takes over the producer, and releases
            // it when it is cancelled.
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
        // The step is released after the cancellation. The graveyard is not needed, as cancellation leaves
        // the payload alone.
        if dropsStep { withLoop { $0.propagation.releasePayload(of: self, .dropStep) } }
    }

    /// Whether the step runs even if this cell is cancelled.
    var runsAfterCancel: Bool { flags.contains(.hasStep) && interest.contains(.afterCancel) }

    /// Stops waiting for the source. If `cancelling` is `true`, also asks the source to cancel unless
    /// something else waits for the source.
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
