/// A room: who is in it at this process, and what was said last.
final class Room {
    let name: String
    private(set) var history: [Said] = []
    /// The last message that the history has lost.
    private(set) var lost = EntryID.start
    /// The place in the log of the last message.
    private(set) var place = 0
    private(set) var members = Members()
    private let historyLength, keptLength: Int

    /// A message that has its place in the log.
    struct Said: Hashable {
        let id: EntryID
        /// The name of the sender and the text.
        let line: String
    }

    init(_ name: String, historyLength: Int, keptLength: Int) {
        (self.name, self.historyLength, self.keptLength) = (name, historyLength, keptLength)
    }

    func add(_ member: Member) { members.add(member) }
    func remove(_ member: Member) { members.remove(member) }

    /// Keeps a message, and passes it on to all members. Nobody waits for one who does not read.
    func add(_ said: Said, at place: Int) {
        self.place = place
        history.append(said)
        if history.count >= 2 * keptLength { shorten() }
        for member in members.all { member.hear(said) }
    }

    /// The messages that a member gets who has seen all up to `id`, or who is new.
    func messages(after id: EntryID?) -> ArraySlice<Said> {
        guard let id else { return history.suffix(historyLength) }
        let first = history.lastIndex { $0.id <= id }.map { $0 + 1 } ?? 0
        return history[first...]
    }

    private func shorten() {
        let surplus = history.count - keptLength
        lost = history[surplus - 1].id
        history.removeFirst(surplus)
    }
}
