import Futures

/// Who is in which room at the other processes, as far as they have told lately.
final class Attendance {
    private unowned let hall: Hall
    private var others: [String: (names: [String: [String]], until: LoopInstant)] = [:]
    private var announcing: ScheduledTask<Void>?
    private var soon: ScheduledTask<Void>?

    init(of hall: Hall) { self.hall = hall }

    /// Begins to tell the other processes who is here.
    func begin() {
        let task = hall.loop.repeat(every: hall.settings.announcementInterval, keepsLoopAlive: false) {
            [unowned self] in announce()
        }
        task.future.ignoreFailure()
        announcing = task
        announce()
    }

    func end() {
        announcing.take()?.cancel()
        soon.take()?.cancel()
    }

    /// Tells it soon, together with what else changes until then.
    func changed() {
        guard announcing != nil, soon == nil else { return }
        let task = hall.loop.schedule(after: .milliseconds(500), keepsLoopAlive: false) {
            [unowned self] in
            soon = nil
            announce()
        }
        task.future.ignoreFailure()
        soon = task
    }

    func heard(_ presence: Presence) {
        guard presence.process != hall.process else { return }
        let until = hall.loop.now.advanced(by: hall.settings.announcementInterval * 3)
        others[presence.process] = presence.names.isEmpty ? nil : (presence.names, until)
    }

    /// The names in a room, at all processes.
    func names(in room: Room) -> [String] {
        let now = hall.loop.now
        return
            (room.members.all.map(\.name)
            + others.values.filter { $0.until > now }.flatMap { $0.names[room.name] ?? [] }).sorted()
    }

    private func announce() {
        let now = hall.loop.now
        others = others.filter { $0.value.until > now }
        hall.announce(Presence(process: hall.process, names: hall.names)).ignoreFailure()
    }
}
