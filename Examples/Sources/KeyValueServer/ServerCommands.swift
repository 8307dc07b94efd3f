import Foundation
import RESP
import UVFutures

extension Command {
    static let server = [
        Command("ping", -1, .allowedWhileSubscribed, ofSession: { try $0.ping($1, $2, $3, &$4) }),
        Command("echo", 2) { _, _, words, bytes, answer in answer.appendBulk(bytes.extracting(words[1])) },
        Command(
            "quit", -1, .allowedWhileSubscribed,
            ofSession: { _, session, _, _, answer in
                session.isQuitting = true
                answer.appendStatus("OK")
            }),
        Command("select", 2) { _, _, words, bytes, answer in
            guard try bytes.number(words[1]) == 0 else { throw CommandError("ERR DB index is out of range") }
            answer.appendStatus("OK")
        },
        Command("hello", -1, ofSession: { try $0.hello($1, $2, $3, &$4) }),
        Command("client", -2, ofSession: { try $0.client($1, $2, $3, &$4) }),
        Command("config", -2) { try $0.config($2, $3, &$4) },
        Command("command", -1) { try $0.commands($2, $3, &$4) },
        Command("info", -1) { service, _, _, _, answer in answer.appendBulk(service.information) },
    ]
}

extension KeyValueService {
    fileprivate func ping(
        _ session: Session, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        guard words.count <= 2 else { throw CommandError.wrongCount("ping") }
        if session.isSubscribed {
            answer.appendArray(count: 2)
            answer.appendBulk("pong")
            if words.count == 1 { return answer.appendBulk("") }
        } else if words.count == 1 {
            return answer.appendStatus("PONG")
        }
        answer.appendBulk(bytes.extracting(words[1]))
    }

    /// Only the second version of the protocol is spoken.
    fileprivate func hello(
        _ session: Session, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        if words.count > 1 {
            guard let version = bytes.integer(in: words[1]) else {
                throw CommandError("ERR Protocol version is not an integer or out of range")
            }
            guard version == 2 else { throw CommandError("NOPROTO unsupported protocol version") }
            guard words.count == 2 else { throw CommandError.syntax }
        }
        answer.appendArray(count: 14)
        for (name, value) in [("server", "redis"), ("version", "7.0.0")] {
            answer.appendBulk(name)
            answer.appendBulk(value)
        }
        answer.appendBulk("proto")
        answer.appendInteger(2)
        answer.appendBulk("id")
        answer.appendInteger(session.id)
        for (name, value) in [("mode", "standalone"), ("role", "master")] {
            answer.appendBulk(name)
            answer.appendBulk(value)
        }
        answer.appendBulk("modules")
        answer.appendArray(count: 0)
    }

    fileprivate func client(
        _ session: Session, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        let subcommand = bytes.text(words[1]).lowercased()
        switch (subcommand, words.count) {
        case ("id", 2): answer.appendInteger(session.id)
        case ("getname", 2):
            let name = session.name
            if name.isEmpty { answer.appendNull() } else { answer.appendBulk(name.span.bytes) }
        case ("setname", 3):
            let name = bytes.array(words[2])
            guard name.allSatisfy({ (33...126).contains($0) }) else {
                throw CommandError("ERR Client names cannot contain spaces, newlines or special characters.")
            }
            session.name = name
            answer.appendStatus("OK")
        case ("id", _), ("getname", _), ("setname", _): throw CommandError.wrongCount("client|\(subcommand)")
        default: throw CommandError.unknownSubcommand(bytes.text(words[1]), of: "CLIENT")
        }
    }

    fileprivate func config(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        guard bytes.isWord(words[1], "GET") else {
            throw CommandError.unknownSubcommand(bytes.text(words[1]), of: "CONFIG")
        }
        guard words.count > 2 else { throw CommandError.wrongCount("config|get") }
        let patterns = words.dropFirst(2).map { Glob(Array(bytes.text($0).lowercased().utf8)) }
        let found = configuration.filter { setting in patterns.contains { $0.matches(Array(setting.0.utf8)) }
        }
        answer.appendArray(count: 2 * found.count)
        for (name, value) in found {
            answer.appendBulk(name)
            answer.appendBulk(value)
        }
    }

    private var configuration: [(String, String)] {
        [
            ("appendfsync", log.map { "\($0.policy)" } ?? "everysec"),
            ("appendonly", log == nil ? "no" : "yes"),
            ("databases", "1"), ("maxmemory", String(settings.memoryLimit ?? 0)),
            ("maxmemory-policy", "noeviction"), ("save", ""),
        ]
    }

    fileprivate func commands(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        if words.count > 1 {
            if bytes.isWord(words[1], "COUNT") { return answer.appendInteger(Command.all.count) }
            if bytes.isWord(words[1], "DOCS") { return answer.appendArray(count: 0) }
            throw CommandError.unknownSubcommand(bytes.text(words[1]), of: "COMMAND")
        }
        let commands = Command.all.values.sorted { $0.name < $1.name }
        answer.appendArray(count: commands.count)
        for command in commands {
            answer.appendArray(count: 3)
            answer.appendBulk(command.name)
            answer.appendInteger(command.arity)
            answer.appendArray(count: 1)
            answer.appendStatus(command.traits.contains(.writes) ? "write" : "readonly")
        }
    }

    fileprivate var information: String {
        let loads = loop.statistics
        var lines = [
            "# Server", "redis_version:7.0.0", "server_name:swift-uv-futures KeyValueServer",
            "process_id:\(ProcessInfo.processInfo.processIdentifier)",
            "uptime_in_seconds:\(started.duration(to: loop.now).components.seconds)",
            "", "# Clients", "connected_clients:\(sessions.count)",
            "", "# Memory", "used_memory:\(store.usedMemory)", "maxmemory:\(settings.memoryLimit ?? 0)",
            "maxmemory_policy:noeviction",
            "", "# Persistence", "loading:0", "aof_enabled:\(log == nil ? 0 : 1)",
        ]
        if let log { lines += log.information }
        lines += [
            "", "# Stats", "total_connections_received:\(acceptedCount)",
            "total_commands_processed:\(commandCount)", "expired_keys:\(store.expiredCount)",
            "loop_futures:\(loads.futures)",
            "", "# Keyspace",
        ]
        if store.count > 0 { lines.append("db0:keys=\(store.count),expires=\(store.expiringCount)") }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}
