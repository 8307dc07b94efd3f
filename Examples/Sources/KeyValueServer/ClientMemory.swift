/// The memory of what the server keeps for its clients, which has a limit of its own. When there is too much, those with
/// the most are ended, as Redis does it with `maxmemory-clients`.
struct ClientMemory {
    /// The most bytes of all clients together, or `nil`.
    let limit: Int?
    /// The bytes when each was last looked at.
    private(set) var used = 0
    private(set) var evictedCount = 0
    /// The bytes of subscriptions of clients that have gone, which are removed a few in each turn.
    var leaving = 0

    init(limit: Int?) { self.limit = limit }

    mutating func forget(_ session: Session) {
        used -= session.countedMemory
        session.countedMemory = 0
    }

    /// Notes what is kept for a client now.
    mutating func note(_ session: Session) {
        guard !session.hasEnded else { return }
        let memory = session.memory
        used += memory - session.countedMemory
        session.countedMemory = memory
    }

    /// Ends those with the most if that is too much for `all` together. Looks at all again before, since much may have been
    /// sent, and makes more room than is needed: the next look comes later.
    mutating func makeRoom(_ limit: Int, _ all: [Session]) {
        for session in all { note(session) }
        guard used > limit else { return }
        for session in all.sorted(by: { $0.countedMemory > $1.countedMemory })
        where used > limit / 10 * 9 {
            forget(session)
            session.hasEnded = true
            evictedCount += 1
            session.connection.loop.later { session.connection.abort() }
        }
    }

    /// Refuses what would take so many bytes for one client.
    func check(_ count: Int) throws {
        guard let limit, count > limit else { return }
        throw CommandError(
            "OOM more than \(limit) bytes for a client are not allowed (maxmemory-clients); ask for less at a time"
        )
    }
}
