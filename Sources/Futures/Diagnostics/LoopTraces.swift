/// What a loop notes for its snapshots, while ``EventLoop/isTraced`` is `true`.
final class LoopTraces {
    /// The lines that made the promises that somebody still holds.
    var sites: [ObjectIdentifier: (file: StaticString, line: UInt)] = [:]
    /// The names of promises of the library.
    var names: [ObjectIdentifier: String] = [:]
    /// The times at which the waits of bodies began.
    var waits: [ObjectIdentifier: UInt64] = [:]
}

/// The modules of this library.
let modulesOfLibrary: Set<Substring> = [
    "Futures", "ByteStreams", "SystemIO", "UVFutures", "FuturesTesting", "TLSStreams",
]

extension LoopCore {
    // Not inlined, so that the code of the frequent case stays short.

    @inline(never)
    func noteSite(of cell: Cell, _ file: StaticString, _ line: UInt) {
        traces?.sites[ObjectIdentifier(cell)] = (file, line)
    }

    /// Forgets a promise that nobody holds any more.
    @inline(never)
    func forgetNotes(of cell: Cell) {
        traces?.sites[ObjectIdentifier(cell)] = nil
        traces?.names[ObjectIdentifier(cell)] = nil
    }

    @inline(never)
    func noteWait(of body: AnyObject) { traces?.waits[ObjectIdentifier(body)] = clock }

    @inline(never)
    func forgetWait(of body: AnyObject) { traces?.waits[ObjectIdentifier(body)] = nil }

    /// The number of notes for snapshots.
    package var traceCount: Int { traces.map { $0.sites.count + $0.names.count + $0.waits.count } ?? 0 }
}

extension Promise {
    /// Names what completes the promise, for a snapshot, such as `a write of TCPConnection 1`.
    package func isCalled(_ name: @autoclosure () -> String) {
        cell.pointer.withLoop { loop in
            if let traces = loop.traces { traces.names[ObjectIdentifier(cell)] = name() }
        }
    }
}

extension EventLoop {
    /// Whether the loop notes, for ``snapshot()``, the lines of source code that make promises, the names of its own
    /// operations, and the times at which bodies begin to wait. `true` in a debug build of the library, `false` in a release build unless you set it.
    ///
    /// Only promises and waits after this call are noted. Each takes an entry in a table.
    public var isTraced: Bool {
        get { withCore { $0.traces != nil } }
        set {
            withCore { core in
                core.checkThread()
                core.trace(newValue)
            }
        }
    }
}

extension Cell {
    /// The line of the user's source code that made this future, or `nil` if it is not known.
    var place: String? {
        let site = loop.traces?.sites[ObjectIdentifier(self)]
        if let site, !modulesOfLibrary.contains("\(site.file)".prefix(while: { $0 != "/" })) {
            return "\(site.file):\(site.line)"
        }
        return callers.place
    }
}
