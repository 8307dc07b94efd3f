import RESP

extension Command {
    static let channels = [
        Command(
            "subscribe", -2, .allowedWhileSubscribed,
            ofSession: { service, session, words, bytes, answer in
                try service.checkSubscriptions(of: session, words, bytes)
                for word in words.dropFirst() {
                    let channel = bytes.array(word)
                    service.channels.subscribe(session, to: channel)
                    session.appendCount("subscribe", channel, to: &answer)
                }
            }),
        Command(
            "psubscribe", -2, .allowedWhileSubscribed,
            ofSession: { service, session, words, bytes, answer in
                try service.checkSubscriptions(of: session, words, bytes)
                for word in words.dropFirst() {
                    let pattern = bytes.array(word)
                    service.channels.subscribe(session, toPattern: pattern)
                    session.appendCount("psubscribe", pattern, to: &answer)
                }
            }),
        Command(
            "unsubscribe", -1, .allowedWhileSubscribed,
            ofSession: { service, session, words, bytes, answer in
                let channels =
                    words.count > 1
                    ? words.dropFirst().map { bytes.array($0) } : session.subscriptions.sorted()
                for channel in channels {
                    service.channels.unsubscribe(session, from: channel)
                    session.appendCount("unsubscribe", channel, to: &answer)
                }
                if channels.isEmpty { session.appendCount("unsubscribe", nil, to: &answer) }
            }),
        Command(
            "punsubscribe", -1, .allowedWhileSubscribed,
            ofSession: { service, session, words, bytes, answer in
                let patterns =
                    words.count > 1 ? words.dropFirst().map { bytes.array($0) } : session.patterns.sorted()
                for pattern in patterns {
                    service.channels.unsubscribe(session, fromPattern: pattern)
                    session.appendCount("punsubscribe", pattern, to: &answer)
                }
                if patterns.isEmpty { session.appendCount("punsubscribe", nil, to: &answer) }
            }),
        Command("publish", 3) { service, _, words, bytes, answer in
            let (channel, message) = (bytes.array(words[1]), bytes.array(words[2]))
            answer.appendInteger(try service.channels.publish(message, to: channel, service.count))
        },
    ]
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
    fileprivate func appendCount(_ kind: String, _ channel: [UInt8]?, to answer: inout [UInt8]) {
        answer.appendPush(count: 3, version)
        answer.appendBulk(kind)
        if let channel { answer.appendBulk(channel.span.bytes) } else { answer.appendNull(version) }
        answer.appendInteger(subscriptions.count + patterns.count)
    }
}

extension Set<[UInt8]> {
    fileprivate func sorted() -> [[UInt8]] { sorted { $0.lexicographicallyPrecedes($1) } }
}
