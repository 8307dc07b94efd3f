/// The last number of each sender, by which a message is known that comes twice.
///
/// All processes read the same log, so all drop the same messages.
struct Senders {
    private var last: [String: (number: Int, place: Int)] = [:]

    var count: Int { last.count }

    /// Returns whether `message`, at `place` of the log, has not come before. The messages of a sender come in the order of
    /// their numbers, except those that come again.
    mutating func isNew(_ message: Message, at place: Int) -> Bool {
        if let known = last[message.sender], message.number <= known.number { return false }
        last[message.sender] = (message.number, place)
        return true
    }

    mutating func forget(before place: Int) { last = last.filter { $0.value.place >= place } }
}
