import RESP

extension Command {
    static let channels = [
        subscribe("subscribe", isPattern: false),
        subscribe("psubscribe", isPattern: true),
        unsubscribe("unsubscribe", isPattern: false),
        unsubscribe("punsubscribe", isPattern: true),
        Command("publish", 3) { service, _, words, bytes, answer in
            let (channel, message) = (bytes.array(words[1]), bytes.array(words[2]))
            answer.appendInteger(try service.channels.publish(message, to: channel, service.count))
        },
    ]

    private static func subscribe(_ name: String, isPattern: Bool) -> Command {
        Command.ofSession(name, -2, .allowedWhileSubscribed) { service, session, words, bytes, answer in
            try service.checkSubscriptions(of: session, words, bytes)
            for word in words.dropFirst() {
                let topic = Topic(name: bytes.array(word), isPattern: isPattern)
                service.channels.subscribe(session, to: topic)
                session.appendCount(name, topic, to: &answer)
            }
        }
    }

    private static func unsubscribe(_ name: String, isPattern: Bool) -> Command {
        Command.ofSession(name, -1, .allowedWhileSubscribed) { service, session, words, bytes, answer in
            let topics =
                words.count > 1
                ? words.dropFirst().map { Topic(name: bytes.array($0), isPattern: isPattern) }
                : session.subscriptions.filter { $0.isPattern == isPattern }
                    .sorted { $0.name.lexicographicallyPrecedes($1.name) }
            for topic in topics {
                service.channels.unsubscribe(session, from: topic)
                session.appendCount(name, topic, to: &answer)
            }
            if topics.isEmpty { session.appendCount(name, nil, to: &answer) }
        }
    }
}

extension KeyValueService {
    /// Refuses subscriptions that would take too much memory together with those before, and with those of clients that have
    /// gone.
    fileprivate func checkSubscriptions(of session: Session, _ words: Words, _ bytes: RawSpan) throws {
        try clientMemory.check(
            clientMemory.leaving + session.subscriptionBytes
                + Channels.memory(words.count, bytes: bytes.byteCount))
    }
}

extension Session {
    /// Adds what is answered to each subscription and to its end.
    fileprivate func appendCount(_ kind: String, _ topic: Topic?, to answer: inout [UInt8]) {
        answer.appendPush(count: 3, version)
        answer.appendBulk(kind)
        if let topic { answer.appendBulk(topic.name.span.bytes) } else { answer.appendNull(version) }
        answer.appendInteger(subscriptions.count)
    }
}
