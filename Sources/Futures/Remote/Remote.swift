internal import Synchronization

/// Something that other threads know by a number alone: nothing that crosses threads holds a cell. The loop's table
/// says, on its own thread, what the number stands for.
protocol Remote: AnyObject {
    /// Whether this ends when a run finds nothing left to do.
    var endsWithRun: Bool { get }
    /// Ends this, which has left the table: the other side is gone, or does not want to wait.
    func end(with error: any Error)
}

/// What other threads know of a loop by a number.
final class RemoteTable {
    var entries: [UInt64: any Remote] = [:]
    /// Any thread.
    let lastID = Atomic<UInt64>(0)
    /// The number of things that keep `run` from returning, besides the driver's own.
    var holds = 0
}

extension LoopCore {
    /// Returns a new number for the table. Any thread.
    func newRemoteID() -> UInt64 { remotes.lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Ends what the number stands for, if it is still in the table. Any thread. On the loop's own thread it does so
    /// after what is ready, or with `throughInbox` after what other threads have posted.
    func endRemote(_ id: UInt64, with error: any Error, throughInbox: Bool = false) {
        let job: @Sendable () -> Void = { self.remotes.entries.removeValue(forKey: id)?.end(with: error) }
        if throughInbox { _ = inbox.add(job, waking: self) } else { execute(job) }
    }

    /// Forgets a promise that has been completed. On the loop's thread.
    func forgetRemote(_ id: UInt64) {
        remotes.entries.removeValue(forKey: id)?.end(with: CancellationError())
    }

    /// Ends all that is in the table.
    func endRemotes(with error: any Error) {
        let entries = remotes.entries
        remotes.entries = [:]
        for (_, remote) in entries.sorted(by: { $0.key < $1.key }) { remote.end(with: error) }
        endWaits(with: error)
    }

    /// Keeps `run` from returning for want of work, without a timer. Each call needs one of `letGo`.
    package func hold() {
        remotes.holds += 1
        if remotes.holds == 1 { driver.keepAlive(true) }
    }

    package func letGo() {
        remotes.holds -= 1
        if remotes.holds == 0 { driver.keepAlive(false) }
    }
}
