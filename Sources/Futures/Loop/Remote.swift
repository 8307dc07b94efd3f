internal import Synchronization

/// An object of a loop that other threads refer to by a number. So no cell leaves its thread. The loop's
/// table finds the object by its number, on the loop's thread.
protocol Remote: AnyObject {
    /// Whether this object ends when a run finds nothing left to do.
    var endsWithRun: Bool { get }
    /// Ends this object, after it has left the table: the other thread has released its side, or does not
    /// want to wait any more.
    func end(with error: any Error)
}

extension LoopCore {
    /// Returns a new number for the table. May be called on any thread.
    func newRemoteID() -> UInt64 { lastRemoteID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Ends the object with this number, if it is still in the table. May be called on any thread. A call on
    /// the loop's own thread takes effect after the callbacks that are ready. With `throughInbox` it takes
    /// effect after the jobs that other threads have submitted.
    func endRemote(_ id: UInt64, with error: any Error, throughInbox: Bool = false) {
        let job: @Sendable () -> Void = { self.remotes.removeValue(forKey: id)?.end(with: error) }
        if throughInbox { _ = inbox.add(job, waking: self) } else { accept(job) }
    }

    /// Ends all objects in the table.
    func endRemotes(with error: any Error) {
        let entries = exchange(&remotes, with: [:])
        for (_, remote) in entries.sorted(by: { $0.key < $1.key }) { remote.end(with: error) }
        endWaits(with: error)
    }

    /// Keeps `run` from returning until `letGo` is called. Needs no timer.
    package func hold() {
        holds += 1
        if holds == 1 { driver.keepAlive(true) }
    }

    package func letGo() {
        holds -= 1
        if holds == 0 { driver.keepAlive(false) }
    }
}
