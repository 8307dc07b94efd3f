import Foundation
import RESP
import UVFutures

extension Command {
    static let server = [
        Command.ofSession("ping", -1, .allowedWhileSubscribed) { try $0.ping($1, $2, $3, &$4) },
        Command("echo", 2) { _, _, words, bytes, answer in answer.appendBulk(bytes.extracting(words[1])) },
        Command.ofSession("quit", -1, .allowedWhileSubscribed) { _, session, _, _, answer in
            session.isQuitting = true
            answer.appendStatus("OK")
        },
        Command("select", 2) { _, _, words, bytes, answer in
            guard try bytes.number(words[1]) == 0 else { throw CommandError("ERR DB index is out of range") }
            answer.appendStatus("OK")
        },
        Command(
            "config", -2, subcommands: [Command("config|get", -3) { try $0.config($2, $3, &$4) }]),
        Command(
            "command", -1,
            subcommands: [
                Command("command|count", 2) { _, _, _, _, answer in answer.appendInteger(Command.all.count) },
                Command("command|docs", -2) { service, _, _, _, answer in
                    answer.appendMap(count: 0, service.version)
                },
            ],
            { service, _, _, _, answer in service.appendCommands(to: &answer) }),
        Command("info", -1) { service, _, _, _, answer in
            answer.appendText(service.information, service.version)
        },
    ]
}

extension KeyValueService {
    fileprivate func ping(
        _ session: Session, _ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]
    ) throws {
        guard words.count <= 2 else { throw CommandError.wrongCount("ping") }
        if session.isSubscribed, version == .second {
            answer.appendArray(count: 2)
            answer.appendBulk("pong")
            if words.count == 1 { return answer.appendBulk("") }
        } else if words.count == 1 {
            return answer.appendStatus("PONG")
        }
        answer.appendBulk(bytes.extracting(words[1]))
    }

    fileprivate func config(_ words: Words, _ bytes: RawSpan, _ answer: inout [UInt8]) throws {
        let patterns = words.dropFirst(2).map { Glob(Array(bytes.text($0).lowercased().utf8)) }
        var steps = Glob.mostSteps
        let found = try configuration.filter { setting in
            try patterns.contains { try $0.matches(Array(setting.0.utf8), &steps) }
        }
        answer.appendMap(count: found.count, version)
        for (name, value) in found {
            answer.appendBulk(name)
            answer.appendBulk(value)
        }
    }

    private var configuration: [(String, String)] {
        [
            ("appendfsync", log.map { "\($0.policy)" } ?? "everysec"),
            ("appendonly", log == nil ? "no" : "yes"),
            ("databases", "1"), ("maxmemory", String(memoryLimit ?? 0)),
            ("maxmemory-clients", String(clientMemory.limit ?? 0)), ("maxmemory-policy", "noeviction"),
            ("save", ""),
        ]
    }

    fileprivate func appendCommands(to answer: inout [UInt8]) {
        let commands = Command.all.values.sorted { $0.name < $1.name }
        answer.appendArray(count: commands.count)
        for command in commands {
            answer.appendArray(count: 3)
            answer.appendBulk(command.name)
            answer.appendInteger(command.arity)
            answer.appendSet(count: 1, version)
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
            "", "# Memory", "used_memory:\(dataMemory + clientMemory.used)",
            "used_memory_dataset:\(store.usedMemory)", "mem_clients_normal:\(clientMemory.used)",
            "maxmemory:\(memoryLimit ?? 0)", "maxmemory_policy:noeviction",
            "", "# Persistence", "loading:0", "aof_enabled:\(log == nil ? 0 : 1)",
        ]
        if let log { lines += log.information }
        lines += [
            "", "# Stats", "total_connections_received:\(acceptedCount)",
            "total_commands_processed:\(commandCount)", "expired_keys:\(store.expiredCount)",
            "evicted_clients:\(clientMemory.evictedCount)",
            "loop_futures:\(loads.futures)",
            "", "# Keyspace",
        ]
        if store.count > 0 { lines.append("db0:keys=\(store.count),expires=\(store.expiringCount)") }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}
