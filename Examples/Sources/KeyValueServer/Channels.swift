import Foundation
import RESP

/// Who listens to which channel, or to all channels that fit a pattern.
struct Channels {
    /// About the bytes of memory of a subscription besides those of its name, which is kept once for each client and once for
    /// all. A compiled pattern takes four bytes for each.
    private static let overhead = 256

    private static func memory(_ name: [UInt8]) -> Int { overhead + 2 * name.count }
    private static func memory(pattern: [UInt8]) -> Int { overhead + 6 * pattern.count }

    private struct Pattern {
        let text: [UInt8]
        let glob: Glob
        var listeners: [Session]
    }

    private var listeners: [[UInt8]: [Session]] = [:]
    private var patterns: [Pattern] = []
    /// The index of each pattern.
    private var places: [[UInt8]: Int] = [:]

    mutating func subscribe(_ session: Session, to channel: [UInt8]) {
        guard session.subscriptions.insert(channel).inserted else { return }
        session.subscriptionBytes += Self.memory(channel)
        listeners[channel, default: []].append(session)
    }

    mutating func unsubscribe(_ session: Session, from channel: [UInt8]) {
        guard session.subscriptions.remove(channel) != nil else { return }
        session.subscriptionBytes -= Self.memory(channel)
        listeners[channel]?.removeAll { $0 === session }
        if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
    }

    mutating func subscribe(_ session: Session, toPattern text: [UInt8]) {
        guard session.patterns.insert(text).inserted else { return }
        session.subscriptionBytes += Self.memory(pattern: text)
        if let place = places[text] {
            patterns[place].listeners.append(session)
        } else {
            places[text] = patterns.count
            patterns.append(Pattern(text: text, glob: Glob(text), listeners: [session]))
        }
    }

    mutating func unsubscribe(_ session: Session, fromPattern text: [UInt8]) {
        guard session.patterns.remove(text) != nil, let place = places[text] else { return }
        session.subscriptionBytes -= Self.memory(pattern: text)
        patterns[place].listeners.removeAll { $0 === session }
        guard patterns[place].listeners.isEmpty else { return }
        places[text] = nil
        let last = patterns.removeLast()
        guard place < patterns.count else { return }
        patterns[place] = last
        places[last.text] = place
    }

    /// Ends up to `limit` subscriptions of a session. Returns whether it has more.
    mutating func remove(_ limit: Int, of session: Session) -> Bool {
        // Copied, since the set would be, as long as somebody goes through it.
        for channel in Array(session.subscriptions.prefix(limit)) { unsubscribe(session, from: channel) }
        for pattern in Array(session.patterns.prefix(limit)) { unsubscribe(session, fromPattern: pattern) }
        return session.isSubscribed
    }

    /// The bytes of memory that so many subscriptions more take at most, and their answers.
    static func memory(_ count: Int, bytes: Int) -> Int { count * (overhead + 64) + 7 * bytes }

    /// Sends a message to all who listen, calls `onSend` with each, and returns how often it was sent.
    func publish(_ message: [UInt8], to channel: [UInt8], _ onSend: (Session) -> Void) throws -> Int {
        var steps = Glob.mostSteps
        let fitting = try patterns.filter { try $0.glob.matches(channel, &steps) }
        var push = Push("message", [channel, message])
        var count = 0
        func send(to session: Session) {
            guard !session.hasEnded else { return }
            push.send(to: session)
            onSend(session)
            count += 1
        }
        listeners[channel]?.forEach(send)
        for pattern in fitting {
            push = Push("pmessage", [pattern.text, channel, message])
            pattern.listeners.forEach(send)
        }
        return count
    }
}

/// A message as clients get it, which is made once for each version of the protocol. All share its memory.
private struct Push {
    private let kind: String
    private let parts: [[UInt8]]
    private var made: [RESPVersion: Data] = [:]

    init(_ kind: String, _ parts: [[UInt8]]) { (self.kind, self.parts) = (kind, parts) }

    mutating func send(to session: Session) {
        let message = made[session.version] ?? make(session.version)
        made[session.version] = message
        session.push(message)
    }

    private func make(_ version: RESPVersion) -> Data {
        var message: [UInt8] = []
        message.appendPush(count: 1 + parts.count, version)
        message.appendBulk(kind)
        for part in parts { message.appendBulk(part.span.bytes) }
        return Data(message)
    }
}
