import RESP

/// Who listens to which channel, or to all channels that fit a pattern.
struct Channels {
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
        listeners[channel, default: []].append(session)
    }

    mutating func unsubscribe(_ session: Session, from channel: [UInt8]) {
        guard session.subscriptions.remove(channel) != nil else { return }
        listeners[channel]?.removeAll { $0 === session }
        if listeners[channel]?.isEmpty == true { listeners[channel] = nil }
    }

    mutating func subscribe(_ session: Session, toPattern text: [UInt8]) {
        guard session.patterns.insert(text).inserted else { return }
        if let place = places[text] {
            patterns[place].listeners.append(session)
        } else {
            places[text] = patterns.count
            patterns.append(Pattern(text: text, glob: Glob(text), listeners: [session]))
        }
    }

    mutating func unsubscribe(_ session: Session, fromPattern text: [UInt8]) {
        guard session.patterns.remove(text) != nil, let place = places[text] else { return }
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
        for channel in session.subscriptions.prefix(limit) { unsubscribe(session, from: channel) }
        for pattern in session.patterns.prefix(limit) { unsubscribe(session, fromPattern: pattern) }
        return session.isSubscribed
    }

    /// Sends a message to all who listen, and returns how often it was sent.
    func publish(_ message: [UInt8], to channel: [UInt8]) -> Int {
        var push = Push("message", [channel, message])
        var count = 0
        for session in listeners[channel] ?? [] where push.send(to: session) { count += 1 }
        for pattern in patterns where pattern.glob.matches(channel) {
            push = Push("pmessage", [pattern.text, channel, message])
            for session in pattern.listeners where push.send(to: session) { count += 1 }
        }
        return count
    }
}

/// A message as clients get it, which is made once for each version of the protocol.
private struct Push {
    private let kind: String
    private let parts: [[UInt8]]
    private var made: [RESPVersion: [UInt8]] = [:]

    init(_ kind: String, _ parts: [[UInt8]]) { (self.kind, self.parts) = (kind, parts) }

    /// Returns whether the session is still there.
    mutating func send(to session: Session) -> Bool {
        guard !session.hasEnded else { return false }
        let message = made[session.version] ?? make(session.version)
        session.push(message.span.bytes)
        return true
    }

    private mutating func make(_ version: RESPVersion) -> [UInt8] {
        var message: [UInt8] = []
        message.appendPush(count: 1 + parts.count, version)
        message.appendBulk(kind)
        for part in parts { message.appendBulk(part.span.bytes) }
        made[version] = message
        return message
    }
}
