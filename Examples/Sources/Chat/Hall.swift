public import Futures

/// The rooms of a chat, as one process has them: it reads the log, and passes on what is new in it.
public final class Hall {
    /// The limits of a hall.
    public struct Settings: Sendable {
        /// The number of messages that a new member of a room gets.
        public var historyLength = 100
        /// The number of messages that a room keeps for members that come again. It is not less than ``historyLength``.
        public var keptLength = 1000
        /// The number of messages after which a sender and a silent room are forgotten. The log should keep as many.
        public var horizon = 50_000
        /// The number of bytes that may wait for a member. Who is further behind is cut off.
        public var memberBuffer = 262_144
        /// The number of lines of a member that are looked at in a second, after ten seconds' worth at once. A line of a room's
        /// history that the member asks for counts as one.
        public var pace = 50
        /// How often the other processes hear who is here. They believe it for three times as long.
        public var announcementInterval = Duration.seconds(5)

        public init() {}
    }

    /// What a hall has done.
    public struct Counts: Hashable, Sendable {
        public internal(set) var acknowledged = 0
        public internal(set) var delivered = 0
        /// Messages that came twice.
        public internal(set) var dropped = 0
        /// Members that did not read.
        public internal(set) var cutOff = 0
    }

    public let settings: Settings
    public let loop: EventLoop
    public internal(set) var counts = Counts()
    /// What tells this process from all others.
    let process: String
    private let log: ChatLog
    private var position = LogPosition()
    /// The number of messages that were read.
    private var place = 0
    private var senders = Senders()
    private var rooms: [String: Room] = [:]
    /// What was said before may be missing here.
    private(set) var oldest: EntryID?
    /// All of them, also those that still work off what a connection has left that has ended: its drain would not reach them.
    private var members = Members()
    private var joinCount = 0
    private(set) var isEnding = false
    private(set) lazy var attendance = Attendance(of: self)

    /// Creates a hall, which reads nothing until ``open()``.
    public init(_ log: ChatLog, _ settings: Settings = Settings(), on loop: EventLoop) {
        (self.log, self.settings, self.loop) = (log, settings, loop)
        process = String(UInt64.random(in: .min ... .max, using: &loop.random), radix: 36)
    }

    // MARK: The log

    /// Reads the log up to its end, and goes on to read from there. Completes when the end has been reached: from then on,
    /// members get the same here as everywhere. Fails if the log cannot be read.
    public func open() -> Future<Void> {
        log.read(position, false).flatMap { [self] entries -> Future<Void> in
            take(entries)
            guard entries.isEmpty else { return open() }
            follow().ignoreFailure()
            attendance.begin()
            return loop.succeeded()
        }
    }

    /// Reads on until the hall is closed or the loop is shut down. If the log cannot be read, it is asked again from where the
    /// hall is, so nothing is missed.
    private func follow() -> Future<Void> {
        guard !isEnding else { return loop.succeeded() }
        return log.read(position, true)
            .flatMapResult { [self] result -> Future<Void> in
                guard let entries = try? result.get() else { return loop.sleep(for: .milliseconds(200)) }
                take(entries)
                return loop.succeeded()
            }
            .flatMap { [self] in follow() }
    }

    private func take(_ entries: [LogEntry]) {
        for entry in entries {
            switch entry {
            case .message(let id, let message):
                position.message = id
                if let message { take(message, id) }
            case .presence(let id, let presence):
                position.presence = id
                if let presence { attendance.heard(presence) }
            }
        }
    }

    private func take(_ message: Message, _ id: EntryID) {
        if oldest == nil { oldest = id }
        place += 1
        if place % max(1, settings.horizon / 4) == 0 { forget(before: place - settings.horizon) }
        guard senders.isNew(message, at: place) else {
            counts.dropped += 1
            return
        }
        room(message.room).add(Room.Said(id: id, line: "\(message.name): \(message.text)"), at: place)
    }

    /// Forgets what the log has no more, either.
    private func forget(before place: Int) {
        senders.forget(before: place)
        for room in rooms.values where room.members.all.isEmpty && room.place < place {
            rooms[room.name] = nil
            if let last = room.history.last { oldest = max(oldest ?? .start, last.id) }
        }
    }

    /// Completes when `message` is in the log.
    func post(_ message: Message) -> Future<Void> {
        log.append(message).map { [self] in counts.acknowledged += 1 }
    }

    func announce(_ presence: Presence) -> Future<Void> { log.announce(presence) }

    // MARK: Rooms and members

    /// The number of members that are connected here.
    public var memberCount: Int { members.all.count }

    func history(of room: String) -> [Room.Said] { rooms[room]?.history ?? [] }
    var roomCount: Int { rooms.count }
    var senderCount: Int { senders.count }

    /// The names of the members in each room here.
    var names: [String: [String]] {
        rooms.filter { !$0.value.members.all.isEmpty }.mapValues { $0.members.all.map(\.name) }
    }

    private func room(_ name: String) -> Room {
        if let room = rooms[name] { return room }
        let room = Room(
            name, historyLength: settings.historyLength,
            keptLength: max(settings.historyLength, settings.keptLength))
        rooms[name] = room
        return room
    }

    /// Adds a member that is in no room. Returns a number that no other member of this process has had.
    func add(_ member: Member) -> Int {
        members.add(member)
        joinCount += 1
        return joinCount
    }

    func remove(_ member: Member) { members.remove(member) }

    func enter(_ name: String, _ member: Member) -> Room {
        let room = room(name)
        room.add(member)
        attendance.changed()
        return room
    }

    func leave(_ room: Room, _ member: Member) {
        room.remove(member)
        if room.members.all.isEmpty, room.history.isEmpty { rooms[room.name] = nil }
        attendance.changed()
    }

    /// Tells all members that the process ends, and ends their connections, each when its message under way has been
    /// acknowledged. What is in the log is not read any more.
    public func close() {
        isEnding = true
        attendance.end()
        for member in members.all { member.goAway() }
    }
}
