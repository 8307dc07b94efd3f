extension EventLoop {
    /// Returns a text that describes the current work of the loop, for people to read. The first line has the numbers
    /// of ``statistics``. Then follows one line for each open handle, file, directory and watch of files. In a debug
    /// build of the library, the text also says at which places in the source code, as file and line, the pending
    /// promises were made. For a promise of the library itself, such as the one of a read, that is the place of your call.
    ///
    /// Takes time in proportion to the number of objects that are alive. Do not parse the text: it may change
    /// with any release.
    public func dump() -> String {
        ([core.figures] + core.driver.openHandles.map { "handle: \($0)" } + core.files.lines.values.sorted()
            + core.watches.lines.values.map { $0() }.sorted() + core.pendingPromises).joined(separator: "\n")
    }
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
            + "\(milliseconds(now.longestLag))"
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }

    fileprivate var pendingPromises: [String] {
        #if DEBUG
            var counts: [String: Int] = [:]
            promises.visit { cell in
                guard let site = promiseSites[ObjectIdentifier(cell.object)] else { return }
                let place = "\(site.file):\(site.line)"
                let isUsers = !Callers.modules.contains(place.prefix { $0 != "/" })
                counts[isUsers ? place : cell.object.callers.place ?? place, default: 0] += 1
            }
            return counts.byCount.map { "promise: \($0)" }
        #else
            return []
        #endif
    }
}

extension [String: Int] {
    /// The names. A count that is more than one stands behind its name. The highest counts come first.
    var byCount: [String] {
        sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { $0.key + ($0.value > 1 ? " (\($0.value) of them)" : "") }
    }
}
