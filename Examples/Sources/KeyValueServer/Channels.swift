import Foundation
import RESP

/// What a client subscribes to: a channel, or all channels that fit a pattern.
struct Topic: Hashable {
    /// About the bytes of memory of a subscription besides those of its name.
    fileprivate static let overhead = 256

    let name: [UInt8]
    let isPattern: Bool

    /// The name is kept once for each client and once for all. A compiled pattern takes four bytes for each.
    fileprivate var memory: Int { Self.overhead + (isPattern ? 6 : 2) * name.count }
}

/// Who listens to what.
struct Channels {
    private var listeners: [Topic: [Session]] = [:]
    private var patterns: [(topic: Topic, glob: Glob)] = []
    /// The index of each pattern.
    private var places: [Topic: Int] = [:]

    mutating func subscribe(_ session: Session, to topic: Topic) {
        guard session.subscriptions.insert(topic).inserted else { return }
        session.subscriptionBytes += topic.memory
        if topic.isPattern, listeners[topic] == nil {
            places[topic] = patterns.count
            patterns.append((topic, Glob(topic.name)))
        }
        listeners[topic, default: []].append(session)
    }

    mutating func unsubscribe(_ session: Session, from topic: Topic) {
        guard session.subscriptions.remove(topic) != nil else { return }
        session.subscriptionBytes -= topic.memory
        listeners[topic]?.removeAll { $0 === session }
        guard listeners[topic]?.isEmpty == true else { return }
        listeners[topic] = nil
        guard let place = places.removeValue(forKey: topic) else { return }
        let last = patterns.removeLast()
        guard place < patterns.count else { return }
        patterns[place] = last
        places[last.topic] = place
    }

    /// Ends up to `limit` subscriptions of a session. Returns whether it has more.
    mutating func remove(_ limit: Int, of session: Session) -> Bool {
        // Copied, since the set would be, as long as somebody goes through it.
        for topic in Array(session.subscriptions.prefix(limit)) { unsubscribe(session, from: topic) }
        return session.isSubscribed
    }

    /// The bytes of memory that so many subscriptions more take at most, and their answers.
    static func memory(_ count: Int, bytes: Int) -> Int { count * (Topic.overhead + 64) + 7 * bytes }

    /// Sends a message to all who listen, calls `onSend` with each, and returns how often it was sent.
    func publish(_ message: [UInt8], to channel: [UInt8], _ onSend: (Session) -> Void) throws -> Int {
        var steps = Glob.mostSteps
        let fitting = try patterns.filter { try $0.glob.matches(channel, &steps) }
        var count = 0
        func send(_ kind: String, _ parts: [[UInt8]], to topic: Topic) {
            // It is made once for each version of the protocol, and all share its memory.
            var made: [RESPVersion: Data] = [:]
            for session in listeners[topic] ?? [] where !session.hasEnded {
                let message = made[session.version] ?? Self.message(kind, parts, session.version)
                made[session.version] = message
                session.push(message)
                onSend(session)
                count += 1
            }
        }
        send("message", [channel, message], to: Topic(name: channel, isPattern: false))
        for (topic, _) in fitting { send("pmessage", [topic.name, channel, message], to: topic) }
        return count
    }

    private static func message(_ kind: String, _ parts: [[UInt8]], _ version: RESPVersion) -> Data {
        var message: [UInt8] = []
        message.appendPush(count: 1 + parts.count, version)
        message.appendBulk(kind)
        for part in parts { message.appendBulk(part.span.bytes) }
        return Data(message)
    }
}
