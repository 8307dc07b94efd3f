extension EventLoop {
    /// Returns what waits on this loop, and for what: scopes with their members, bodies, handles, files, watches, timers
    /// and promises.
    ///
    /// A debug build of the library knows the lines of your source code: of a promise and of a step the line that made it,
    /// of a body the line of its `await`. A release build knows the lines of promises only, and only if ``isTraced`` is
    /// `true`. Takes time in proportion to the number of objects that are alive.
    ///
    /// ```swift
    /// loop.schedule(after: .seconds(60)) { print(loop.snapshot()) }
    /// ```
    public func snapshot() -> LoopSnapshot {
        core.checkThread()
        return LoopSnapshot(figures: core.figures, items: SnapshotBuilder.items(of: core))
    }

    /// Returns the text of ``snapshot()``, with at most `limit` lines. Do not parse the text: it may change with any
    /// release.
    public func dump(limit: Int = 500) -> String { snapshot().text(limit: limit) }
}

extension LoopCore {
    fileprivate var figures: String {
        let now = statistics
        return "event loop: \(now.futures) futures, \(now.promises) promises, \(now.timers) timers, "
            + "\(now.handles) handles, of which \(now.connections) are connections; "
            + "\(now.files) files with \(now.fileOperations) operations; \(now.fileWatches) watches of files with "
            + "\(now.toldFileChanges) changes delivered, \(now.mergedFileChanges) merged, "
            + "\(now.fileWatchOverflows) overflows; "
            + "\(now.readyCallbacks) callbacks ready, \(now.callbacks) run in \(now.turns) turns, at most \(now.longestTurn) in one; "
            + "\(now.wakeUps) wake-ups; timers \(milliseconds(now.lag)) ms late, at most "
            + "\(milliseconds(now.longestLag)); busy for \(milliseconds(now.busy)) ms, idle for "
            + "\(milliseconds(now.idle)) ms"
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
