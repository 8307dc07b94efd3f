public import ByteStreams
public import Futures

/// A member of a chat: a connection, and the commands that come on it.
///
/// Each line of a member is a command or a text. The next line is looked at when the one before has been dealt with, so the
/// messages of a member are in the log in the order in which they were sent.
public final class Member {
    /// How lines leave, which differs between a connection of lines and a WebSocket.
    public struct Output {
        let send: (_ line: String) -> Void
        let end: () -> Void

        public init(send: @escaping (_ line: String) -> Void, end: @escaping () -> Void) {
            (self.send, self.end) = (send, end)
        }
    }

    /// Thrown when the connection has to end.
    public struct Ended: Error {
        public init() {}
    }

    let hall: Hall
    private let stream: ByteStream
    private let output: Output
    var name: String
    private(set) var room: Room?
    /// The last message that the member has got.
    private var last: EntryID?
    private var sender: String
    private var number = 0
    /// Whether the member numbers its messages, and so can send one again.
    private var numbers = false
    private var isPosting = false
    /// Whether the member still gets what was said before. What is said meanwhile comes behind it.
    private var isCatchingUp = false
    /// How fast its lines are looked at. Without it, no more of them are.
    private var pace: FutureTokenBucket?
    /// The tokens that the line which was looked at last takes.
    private var cost = 0
    private var isGone = false

    public init(in hall: Hall, _ stream: ByteStream, _ output: Output, from address: String?) {
        (self.hall, self.stream, self.output) = (hall, stream, output)
        (name, sender) = ("", "")
        let rate = hall.settings.pace
        pace = FutureTokenBucket(rate: rate, burst: rate * Self.longestPause, on: hall.loop)
        let join = hall.add(self)
        name = "guest\(join)"
        sender = "\(hall.process)-\(join)"
        let place = address.map { " from \($0)" } ?? ""
        // The drain of a server waits for answers, and a chat has no last one: the hall tells its members.
        stream.endsWhenIdle = false
        say("* hello, \(name)\(place). /join ROOM takes you to a room, /help tells the rest")
    }

    /// Forgets the member. Call it when the connection has ended.
    public func leave() {
        isGone = true
        pace = nil
        leaveRoom()
        hall.remove(self)
    }

    // MARK: What the member gets

    /// Passes a message on that was said now.
    func hear(_ said: Room.Said) {
        if !isCatchingUp { deliver(said) }
    }

    private func deliver(_ said: Room.Said) {
        if let last, said.id <= last { return }
        last = said.id
        hall.counts.delivered += 1
        say(numbers ? "\(said.id) \(said.line)" : said.line)
    }

    func say(_ line: String) {
        guard !isGone else { return }
        guard stream.bufferedBytes <= hall.settings.memberBuffer else { return cutOff() }
        output.send(line)
    }

    private func cutOff() {
        hall.counts.cutOff += 1
        leave()
        stream.abort()
    }

    /// Ends the connection, or lets it end when the message under way is acknowledged.
    func goAway() {
        say("* this server ends; connect again")
        pace = nil
        if !isPosting { output.end() }
    }

    // MARK: What the member sends

    /// Does what a line says. The next line may come when the future has completed, which waits if the lines of this member
    /// come too fast. It fails if the connection has to end.
    public func take(_ line: String) throws -> Future<Void> {
        cost = 1
        return try obey(line.withoutFormats).flatMap { [self] in
            guard let pace else { throw Ended() }
            return pace.take(min(cost, pace.burst))
        }
        .mapError { error in
            if case FutureError.closed = error { Ended() } else { error }
        }
    }

    private func obey(_ line: String) throws -> Future<Void> {
        if line.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return complain("a line with control characters is not passed on")
        }
        guard line.hasPrefix("/") else {
            guard !numbers else { return complain("after /as a message is sent by /say NUMBER TEXT") }
            return line.isEmpty ? hall.loop.succeeded() : post(line, number + 1)
        }
        let (command, argument) = line.split(at: " ")
        switch command {
        case "/join": return join(argument)
        case "/leave": return leaveByCommand()
        case "/name": return rename(argument)
        case "/who": return who()
        case "/as": return identify(argument)
        case "/say": return sayNumbered(argument)
        case "/help": Self.help.forEach(say)
        case "/quit":
            say("* goodbye")
            throw Ended()
        default: return complain("there is no command \(command); /help tells which there are")
        }
        return hall.loop.succeeded()
    }

    private static let help = [
        "* /join ROOM        goes to a room, and shows what was said there last",
        "* /name NAME        gives you a name",
        "* /who              tells who is in the room",
        "* /leave, /quit     leave the room, and the chat",
        "* any other line is said to the room; it is safe when you read ok, with its number",
        "* programs: /as SECRET makes you the same sender as before, /join ROOM ID gives what came behind ID, and",
        "*   /say NUMBER TEXT may be repeated until it is ok, also to another server: it is heard once",
    ]

    private func join(_ argument: String) -> Future<Void> {
        let (name, id) = argument.split(at: " ")
        guard isName(name) else { return complain("/join wants a room: \(Self.names)") }
        let after = EntryID(id)
        guard id.isEmpty || after != nil else {
            return complain("\(id) is not the number of a message; give one like 1700000000000-0")
        }
        leaveRoom()
        let room = hall.enter(name, self)
        self.room = room
        last = after
        say("* you are in \(name) as \(self.name)")
        if let after, after < room.lost || after < hall.oldest ?? .start {
            say("* older messages may be missing")
        }
        isCatchingUp = true
        return catchUp(in: room)
    }

    /// Passes on what was said before, as fast as the member reads it.
    private func catchUp(in room: Room) -> Future<Void> {
        for said in isGone ? [] : room.messages(after: last) {
            deliver(said)
            cost += 1
            guard stream.bufferedBytes < stream.limits.writeHighWaterMark else {
                return stream.writable.flatMap { [self] in
                    // Without the messages that the room has lost meanwhile, there would be a hole.
                    if said.id < room.lost { cutOff() }
                    return catchUp(in: room)
                }
            }
        }
        isCatchingUp = false
        return hall.loop.succeeded()
    }

    private func leaveByCommand() -> Future<Void> {
        guard let room else { return complain("you are in no room") }
        leaveRoom()
        say("* you have left \(room.name)")
        return hall.loop.succeeded()
    }

    private func leaveRoom() {
        if let room = room.take() { hall.leave(room, self) }
    }

    private func rename(_ argument: String) -> Future<Void> {
        guard isName(argument) else { return complain("/name wants a name: \(Self.names)") }
        name = argument
        if room != nil { hall.attendance.changed() }
        say("* you are \(name)")
        return hall.loop.succeeded()
    }

    private func who() -> Future<Void> {
        guard let room else { return complain("you are in no room; /join ROOM takes you to one") }
        let names = hall.attendance.names(in: room)
        cost += names.count / Self.namesTold
        let told = names.prefix(Self.namesTold)
        let others = told.count < names.count ? " and \(names.count - told.count) others" : ""
        say("* in \(room.name): \(told.joined(separator: ", "))\(others)")
        return hall.loop.succeeded()
    }

    private static let namesTold = 50
    /// How many seconds a line can make the next one wait at most, so that the member still gets an answer.
    private static let longestPause = 10

    private func identify(_ argument: String) -> Future<Void> {
        guard (8...64).contains(argument.utf8.count), isName(argument, upTo: 64) else {
            return complain("/as wants a secret of 8 to 64 letters, digits, - and _")
        }
        (sender, numbers) = (argument, true)
        say("* your messages are numbered by you")
        return hall.loop.succeeded()
    }

    private func sayNumbered(_ argument: String) -> Future<Void> {
        let (word, text) = argument.split(at: " ")
        guard numbers else { return complain("/say follows /as; before it, a message needs no command") }
        guard let number = Int(word), number > 0, !text.isEmpty else {
            return complain("/say wants a number from 1 on, and a text")
        }
        return post(text, number)
    }

    private func post(_ text: String, _ number: Int) -> Future<Void> {
        guard let room else {
            return complain("message \(number): you are in no room; /join ROOM takes you to one")
        }
        guard text.utf8.count <= Self.longestText else {
            return complain("message \(number): it has more than \(Self.longestText) bytes")
        }
        self.number = number
        isPosting = true
        let message = Message(room: room.name, sender: sender, number: number, name: name, text: text)
        return hall.post(message).mapResult { [self] result in
            isPosting = false
            switch result {
            case .success: say("ok \(number)")
            case .failure(let error):
                say("! message \(number) may be lost: \(error)")
                // The next message must not be in the log before this one, which will be repeated.
                if numbers { throw Ended() }
            }
            if hall.isEnding { throw Ended() }
        }
    }

    /// The number of bytes that a text may have, and a line with a command before it.
    private static var longestText: Int { 4096 }
    public static var longestLine: Int { 4352 }

    private func complain(_ text: String) -> Future<Void> {
        say("! \(text)")
        return hall.loop.succeeded()
    }

    private static let names = "up to 32 letters, digits, - and _"

    private func isName(_ text: String, upTo limit: Int = 32) -> Bool {
        (1...limit).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic && !$0.properties.isDefaultIgnorableCodePoint
                    || ("0"..."9").contains($0) || $0 == "-" || $0 == "_"
            }
    }
}

extension String {
    /// What is before the first `separator`, and what is behind it.
    fileprivate func split(at separator: Character) -> (String, String) {
        guard let index = firstIndex(of: separator) else { return (self, "") }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }
}
