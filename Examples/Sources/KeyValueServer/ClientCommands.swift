import RESP

extension Command {
    static let clients = [
        Command.ofSession("reset", 1, .allowedWhileSubscribed) { $0.reset($1, &$4) },
        Command.ofSession("hello", -1) { try $0.hello($1, $2, $3, &$4) },
        Command(
            "client", -2,
            subcommands: [
                Command.ofSession("client|id", 2) { $4.appendInteger($1.id) },
                Command.ofSession("client|getname", 2) { service, session, _, _, answer in
                    let name = session.name
                    if name.isEmpty {
                        answer.appendNull(service.version)
                    } else {
                        answer.appendBulk(name.span.bytes)
                    }
                },
                Command.ofSession("client|setname", 3) { _, session, words, bytes, answer in
                    try session.setName(bytes.array(words[2]))
                    answer.appendStatus("OK")
                },
            ]),
    ]
}

extension Session {
    fileprivate func setName(_ name: [UInt8]) throws {
        guard name.allSatisfy({ (33...126).contains($0) }) else {
            throw CommandError("ERR Client names cannot contain spaces, newlines or special characters.")
        }
        self.name = name
    }
}

extension KeyValueService {
    /// Makes a client again what it was when it came.
    fileprivate func reset(_ session: Session, _ answer: inout [UInt8]) {
        _ = channels.remove(.max, of: session)
        (session.name, session.version) = ([], .second)
        answer.appendStatus("RESET")
    }

    fileprivate func hello(
        _ session: Session, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        if words.count > 1 {
            guard let number = bytes.integer(in: words[1]) else {
                throw CommandError("ERR Protocol version is not an integer or out of range")
            }
            guard let version = RESPVersion(rawValue: number) else {
                throw CommandError("NOPROTO unsupported protocol version")
            }
            try takeOptions(of: session, words, bytes)
            session.version = version
        }
        answer.appendMap(count: 7, session.version)
        for text in ["server", "redis", "version", "7.0.0", "proto"] { answer.appendBulk(text) }
        answer.appendInteger(session.version.rawValue)
        answer.appendBulk("id")
        answer.appendInteger(session.id)
        for text in ["mode", "standalone", "role", "master", "modules"] { answer.appendBulk(text) }
        answer.appendArray(count: 0)
    }

    /// Takes what a greeting says besides the version. Everybody may do everything, whatever the password.
    private func takeOptions(of session: Session, _ words: Words, _ bytes: RawSpan) throws {
        var index = 2
        while index < words.count {
            let more = words.count - 1 - index
            if bytes.isWord(words[index], "AUTH"), more >= 2 {
                guard bytes.array(words[index + 1]) == Array("default".utf8) else {
                    throw CommandError("WRONGPASS invalid username-password pair or user is disabled.")
                }
                index += 3
            } else if bytes.isWord(words[index], "SETNAME"), more >= 1 {
                try session.setName(bytes.array(words[index + 1]))
                index += 2
            } else {
                throw CommandError("ERR Syntax error in HELLO option '\(bytes.text(words[index]))'")
            }
        }
    }
}
