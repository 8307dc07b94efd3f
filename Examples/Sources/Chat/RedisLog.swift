import FoundationEssentials
public import Futures
import RESP
import UVFutures

/// A log that is kept by Redis, in two streams: the messages, and who is here.
///
/// It has two connections, since one of them waits for entries most of the time. Both are made again when they end. A message
/// whose answer was lost is sent again, so it may be in the stream twice. Redis answers when the message is on its disk, if it
/// was started with `--appendonly yes --appendfsync always`.
public final class RedisLog {
    private let messages, presence: String
    private let horizon: Int
    let writer, reader: PipelinedClient<RESPValue>

    /// An answer that is a complaint, or none of what was expected.
    public struct Refused: Error, CustomStringConvertible {
        public let description: String
    }

    /// Creates a log, which begins to connect. The names of its streams begin with `key`. Redis may forget all messages but
    /// the last `horizon`.
    public init(host: String, port: Int, key: String = "chat", horizon: Int = 50_000, on loop: EventLoop)
        throws
    {
        (messages, presence, self.horizon) = ("\(key):messages", "\(key):presence", horizon)
        func connect() throws -> PipelinedClient<RESPValue> {
            var limits = PipelineLimits()
            limits.answerTimeout = .seconds(5)
            // What was not acknowledged is sent until it is.
            limits.maxAttempts = .max
            let backoff = Backoff.exponential(initial: .milliseconds(50), maximum: .seconds(1))
            return try PipelinedClient(
                decodedBy: RESPValueDecoder(), limits: limits, backoff: backoff, on: loop,
                greeting: { connection in
                    // While Redis still loads its file, it says so.
                    connection.send(Data(command: "PING")).map { try check($0, is: "PONG") }
                },
                connect: {
                    TCPConnection.connect(host: host, port: port, on: loop).timeout(after: .seconds(5))
                })
        }
        writer = try connect()
        reader = try connect()
    }

    /// The closures for a hall.
    public var log: ChatLog {
        ChatLog(append: append, announce: announce, read: read)
    }

    /// Closes the connections when all messages under way have been answered, at last after `deadline`.
    public func drain(within deadline: Duration) -> Future<Void> {
        reader.close()
        return writer.drain(within: deadline)
    }

    private func append(_ message: Message) -> Future<Void> {
        let request = Data(
            command: "XADD", messages, "MAXLEN", "~", "\(horizon)", "*", "room", message.room, "from",
            message.sender, "number", "\(message.number)", "name", message.name, "text", message.text)
        return writer.send(request, mayRepeat: true).map { _ = try id($0) }
    }

    private func announce(_ presence: Presence) -> Future<Void> {
        let names = presence.names.flatMap { room, names in names.map { "\(room) \($0)" } }
        let request = Data(
            command: "XADD", self.presence, "MAXLEN", "~", "100", "*", "process", presence.process, "names",
            names.sorted().joined(separator: "\n"))
        return writer.send(request).map { _ = try id($0) }
    }

    private func read(_ position: LogPosition, _ waits: Bool) -> Future<[LogEntry]> {
        var words = ["XREAD", "COUNT", "1000"]
        // Less than the time after which the connection would be taken for dead.
        if waits { words += ["BLOCK", "2000"] }
        words += ["STREAMS", messages, presence, "\(position.message)", "\(position.presence)"]
        return reader.send(Data(command: words), mayRepeat: true).map { [self] in try entries($0) }
    }

    /// The entries in an answer to `XREAD`: an array of the streams, each with its name and its entries.
    private func entries(_ answer: RESPValue) throws -> [LogEntry] {
        if answer == .null { return [] }
        var entries: [LogEntry] = []
        for stream in try array(answer) {
            let stream = try array(stream)
            guard stream.count == 2, let key = stream[0].text else { throw unexpected(answer) }
            for entry in try array(stream[1]) {
                let entry = try array(entry)
                guard entry.count == 2 else { throw unexpected(answer) }
                let id = try id(entry[0])
                let fields = fields(entry[1])
                entries.append(
                    key == presence
                        ? .presence(id, fields.flatMap { Presence($0) })
                        : .message(id, fields.flatMap { Message($0) }))
            }
        }
        return entries
    }

    private func fields(_ value: RESPValue) -> [String: String]? {
        guard let values = value.elements, values.count % 2 == 0 else { return nil }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let name = values[index].text, let text = values[index + 1].text else { return nil }
            fields[name] = text
        }
        return fields
    }
}

extension Message {
    fileprivate init?(_ fields: [String: String]) {
        guard let room = fields["room"], let sender = fields["from"],
            let number = fields["number"].flatMap({ Int($0) }), let name = fields["name"],
            let text = fields["text"]
        else { return nil }
        self.init(room: room, sender: sender, number: number, name: name, text: text)
    }
}

extension Presence {
    fileprivate init?(_ fields: [String: String]) {
        guard let process = fields["process"], let lines = fields["names"] else { return nil }
        var names: [String: [String]] = [:]
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2 else { return nil }
            names[String(words[0]), default: []].append(String(words[1]))
        }
        self.init(process: process, names: names)
    }
}

private func array(_ value: RESPValue) throws -> [RESPValue] {
    guard let elements = value.elements else { throw unexpected(value) }
    return elements
}

private func id(_ value: RESPValue) throws -> EntryID {
    guard let id = value.text.flatMap({ EntryID($0) }) else { throw unexpected(value) }
    return id
}

private func check(_ value: RESPValue, is text: String) throws {
    guard value.text == text else { throw unexpected(value) }
}

private func unexpected(_ value: RESPValue) -> RedisLog.Refused {
    guard case .error(let text) = value else {
        return RedisLog.Refused(description: "Redis answers \(value)")
    }
    return RedisLog.Refused(description: "Redis complains: \(text)")
}

extension Data {
    init(command words: String...) { self.init(command: words) }

    init(command words: [String]) {
        var bytes: [UInt8] = []
        bytes.appendArray(count: words.count)
        for word in words { bytes.appendBulk(word) }
        self.init(bytes)
    }
}
