public import Futures

/// A message to a room, with the sender's number by which it is known if it comes twice.
public struct Message: Hashable, Sendable {
    public let room: String
    /// Who sends it, for the processes. Members see the name.
    public let sender: String
    public let number: Int
    public let name: String
    public let text: String

    public init(room: String, sender: String, number: Int, name: String, text: String) {
        (self.room, self.sender, self.number) = (room, sender, number)
        (self.name, self.text) = (name, text)
    }
}

/// Who is connected to a process: the names in each room.
public struct Presence: Hashable, Sendable {
    public let process: String
    public let names: [String: [String]]

    public init(process: String, names: [String: [String]]) {
        (self.process, self.names) = (process, names)
    }
}

/// What the processes read from the log. `nil` stands for what no such program has written.
public enum LogEntry: Hashable, Sendable {
    case message(EntryID, Message?)
    case presence(EntryID, Presence?)
}

/// How far a process has read.
public struct LogPosition: Hashable, Sendable {
    public var message = EntryID.start
    public var presence = EntryID.start

    public init() {}
}

/// The log that all processes of a chat share, as closures: Redis, or the memory of one process.
public struct ChatLog {
    /// Completes when the message is in the log for good. It may be there twice then, since it is sent again when an answer
    /// is lost. Fails if that is not known: the message may come to be there, or not.
    public let append: (Message) -> Future<Void>
    /// Tells the other processes who is here. What is told is worth something for a short time.
    public let announce: (Presence) -> Future<Void>
    /// Completes with the entries behind a position, in their order. If there are none, it waits for some while for the next
    /// one if it may, and completes with none then.
    public let read: (_ position: LogPosition, _ waits: Bool) -> Future<[LogEntry]>

    public init(
        append: @escaping (Message) -> Future<Void>, announce: @escaping (Presence) -> Future<Void>,
        read: @escaping (_ position: LogPosition, _ waits: Bool) -> Future<[LogEntry]>
    ) {
        (self.append, self.announce, self.read) = (append, announce, read)
    }
}
