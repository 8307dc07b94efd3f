import FoundationEssentials
import FuturesTesting
import UVFutures

@testable import Chat

/// Two processes of a chat and its Redis in a world, with members that connect again and some that only listen.
final class ChatWorld {
    private static let servers = ["one", "two"]
    private static let end = Duration.seconds(15)

    /// What a log can do wrong, to see whether that is found.
    enum Mistake: String, CaseIterable {
        case acknowledgesEarly, renumbersRepeats, losesRead, readsAgain
    }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private let world: World
    private let disk = StreamDisk()
    private let mistake: Mistake?
    private var members: [ChatMember] = []
    private var listeners: [ChatListener] = []

    init(_ world: World, _ mistake: Mistake?) throws {
        (self.world, self.mistake) = (world, mistake)
        world.latency = .exponential(least: .microseconds(200), mean: .milliseconds(3))
        try world.addHost("redis") { [disk] host in try SimulatedRedis(disk, on: host.loop).listen() }
        for name in Self.servers {
            try world.addHost(name) { host in
                let redis = try RedisLog(host: "redis", port: 6379, on: host.loop)
                var settings = Hall.Settings()
                settings.historyLength = 10_000
                let hall = Hall(redis.log.with(mistake, on: host.loop), settings, on: host.loop)
                hall.openWhenPossible().whenSuccess {
                    let server = try! TCPServer.listen(host: "0.0.0.0", port: 7, on: host.loop) {
                        hall.serveLines($0)
                    }
                    server.onConnectionError = { _ in }
                }
            }
        }
    }

    static func run(_ world: World, mistake: Mistake? = nil) throws {
        let chat = try ChatWorld(world, mistake)
        var mix = World.FaultMix()
        mix.kinds = [.partition, .partitionOneWay, .hold, .slow, .pause, .crash, .breakConnections]
        mix.hosts = servers + ["redis"]
        mix.interval = .milliseconds(50)...(.milliseconds(1500))
        for name in ["anna", "bert", "carl"] {
            let host = try world.addHost(name)
            let member = ChatMember(name, servers, on: host.loop)
            chat.members.append(member)
            member.begin(until: end)
        }
        for (number, server) in servers.enumerated() {
            let host = try world.addHost("listener\(number)")
            let listener = ChatListener(server, on: host.loop)
            chat.listeners.append(listener)
            listener.begin()
        }
        world.injectFaults(mix, until: end)
        try world.run(for: end)
        try chat.converge()
    }

    /// When the world is whole, all that was sent is acknowledged, and everybody has it.
    private func converge() throws {
        let members = members
        do {
            try world.run(until: { members.allSatisfy(\.isDone) }, within: .seconds(60))
        } catch is FutureError {
            throw Broken(description: "what was sent is not acknowledged: \(members.map(\.pendingCount))")
        }
        try world.run(for: .seconds(20))
        let log = disk.messages.map(\.line)
        for member in members {
            try require(
                member.acknowledged.count >= 10, "\(member.name) has sent only \(member.acknowledged.count)")
            for other in members {
                let heard = member.heard.filter { $0.hasPrefix("\(other.name): ") }
                try require(
                    heard == other.acknowledged,
                    "\(member.name) has heard \(heard), and \(other.name) has sent \(other.acknowledged)")
            }
            try require(member.heard == log, "\(member.name) has heard \(member.heard), and said was \(log)")
        }
        for listener in listeners {
            for heard in listener.heard where !heard.isEmpty {
                let first = log.firstIndex(of: heard[0]) ?? log.count
                try require(
                    heard.elementsEqual(log[first...].prefix(heard.count)),
                    "a connection has heard \(heard), and said was \(log[first...])")
            }
            let now = listener.heard.last ?? []
            try require(
                now.last == log.last, "who stayed has heard \(now.suffix(1)), and not \(log.suffix(1))")
        }
    }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Broken(description: text()) }
    }
}

extension Hall {
    /// Opens the hall, and tries again while Redis cannot be reached.
    fileprivate func openWhenPossible() -> Future<Void> {
        open().flatMapError { [self] _ in loop.sleep(for: .milliseconds(100)).flatMap(openWhenPossible) }
    }
}

extension ChatLog {
    fileprivate func with(_ mistake: ChatWorld.Mistake?, on loop: EventLoop) -> ChatLog {
        switch mistake {
        case nil: self
        case .acknowledgesEarly:
            ChatLog(
                append: { message in
                    self.append(message).ignoreFailure()
                    return loop.succeeded()
                }, announce: announce, read: read)
        case .renumbersRepeats:
            ChatLog(
                append: { message in
                    let sender = "\(message.sender)-\(UInt32.random(in: .min ... .max, using: &loop.random))"
                    return self.append(
                        Message(
                            room: message.room, sender: sender, number: message.number, name: message.name,
                            text: message.text))
                }, announce: announce, read: read)
        case .losesRead:
            ChatLog(
                append: append, announce: announce,
                read: { position, waits in
                    self.read(position, waits).map { entries in
                        entries.count > 1 ? Array(entries.dropFirst()) : entries
                    }
                })
        case .readsAgain:
            ChatLog(
                append: append, announce: announce,
                read: { position, waits in
                    var position = position
                    if !waits { position.message = .start }
                    return self.read(position, waits).map { entries in
                        waits ? entries + entries.prefix(1).map(\.renumbered) : entries
                    }
                })
        }
    }
}

extension LogEntry {
    /// The same, as if another one had sent it.
    fileprivate var renumbered: LogEntry {
        guard case .message(let id, let message?) = self else { return self }
        return .message(
            id,
            Message(
                room: message.room, sender: message.sender + "x", number: message.number, name: message.name,
                text: message.text))
    }
}
