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
        if let index = patterns.firstIndex(where: { $0.text == text }) {
            patterns[index].listeners.append(session)
        } else {
            patterns.append(Pattern(text: text, glob: Glob(text), listeners: [session]))
        }
    }

    mutating func unsubscribe(_ session: Session, fromPattern text: [UInt8]) {
        guard session.patterns.remove(text) != nil else { return }
        guard let index = patterns.firstIndex(where: { $0.text == text }) else { return }
        patterns[index].listeners.removeAll { $0 === session }
        if patterns[index].listeners.isEmpty { patterns.remove(at: index) }
    }

    mutating func removeAll(of session: Session) {
        for channel in session.subscriptions { unsubscribe(session, from: channel) }
        for pattern in session.patterns { unsubscribe(session, fromPattern: pattern) }
    }

    /// Sends a message to all who listen, and returns how often it was sent.
    func publish(_ message: [UInt8], to channel: [UInt8]) -> Int {
        var count = 0
        if let listeners = listeners[channel] {
            let push = Self.push("message", [channel, message])
            for session in listeners { session.push(push.span.bytes) }
            count += listeners.count
        }
        for pattern in patterns where pattern.glob.matches(channel) {
            let push = Self.push("pmessage", [pattern.text, channel, message])
            for session in pattern.listeners { session.push(push.span.bytes) }
            count += pattern.listeners.count
        }
        return count
    }

    private static func push(_ kind: String, _ parts: [[UInt8]]) -> [UInt8] {
        var push: [UInt8] = []
        push.appendArray(count: 1 + parts.count)
        push.appendBulk(kind)
        for part in parts { push.appendBulk(part.span.bytes) }
        return push
    }
}
