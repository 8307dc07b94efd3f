import FuturesTesting
import Synchronization
import UVFutures

@testable import Replica

/// Three replicas and two clients in a world, and what must hold there.
final class ReplicaWorld {
    private static let names = ["one", "two", "three"]
    private static let members = names.map { Member(host: $0, port: 7) }
    private static let end = Duration.seconds(20)

    private let world: World
    private let mistake: Mistake?
    private var replicas: [Replica?] = [nil, nil, nil]
    private var clients: [Client] = []
    private var leaders: [Int: Int] = [:]
    private var committed: [Entry] = []
    /// What has been asked for, and what has been answered.
    private var (started, answered) = (0, 0)

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    init(_ world: World, mistake: Mistake?) throws {
        (self.world, self.mistake) = (world, mistake)
        world.latency = .exponential(least: .microseconds(200), mean: .milliseconds(5))
        for (id, name) in Self.names.enumerated() {
            let disk = Disk()
            let host = try world.addHost(name) { [self] host in
                let replica = Replica(
                    id, of: Self.members, saved: Saved(disk.text) ?? Saved(), on: host.loop, mistake: mistake
                ) { disk.write($0) }
                try replica.serve(host: "0.0.0.0", port: 7)
                replicas[id] = replica
            }
            host.workDuration = .milliseconds(5)
        }
    }

    /// What a host remembers. A text is there when the write has ended.
    private final class Disk: Sendable {
        private let stored = Mutex("")
        var text: String { stored.withLock { $0 } }

        func write(_ text: String) { stored.withLock { $0 = text } }
    }

    /// Runs a world in which everything goes wrong for a while, and checks that nothing is lost.
    static func run(_ world: World, mistake: Mistake? = nil) throws {
        let replicas = try ReplicaWorld(world, mistake: mistake)
        var mix = World.FaultMix()
        mix.kinds = [.partition, .partitionOneWay, .hold, .slow, .pause, .crash, .breakConnections]
        mix.hosts = names
        world.check(every: .milliseconds(10), replicas.check)
        let work = try ["left", "right"].map { try replicas.addClient($0) }
        world.injectFaults(mix, until: end)
        try world.run(for: end)
        try replicas.converge(work)
    }

    /// A client adds numbers and reads the sum, in random order.
    private func addClient(_ name: String) throws -> Future<Void> {
        let host = try world.addHost(name)
        let loop = host.loop
        let client = Client(of: Self.members, attempts: .max, on: loop, mistake: mistake)
        clients.append(client)
        return Future(on: loop) { [self] in
            for amount in 1...50 {
                if Bool.random(using: &loop.random) {
                    try await add(amount, client)
                } else {
                    let least = answered
                    try check(await client.get().value, isFrom: least, "reading")
                }
                try await loop.sleep(for: .milliseconds(Int.random(in: 1...500, using: &loop.random))).value
            }
        }
    }

    private func add(_ amount: Int, _ client: Client) async throws {
        started += amount
        let least = answered + amount
        let sum = try await client.add(amount).value
        answered += amount
        try check(sum, isFrom: least, "adding \(amount)")
    }

    private func check(_ sum: Int, isFrom least: Int, _ what: String) throws {
        try require((least...started).contains(sum), "\(what) gave \(sum), not \(least)...\(started)")
    }

    /// When the world is whole, the work comes to its end, and the replicas are the same.
    private func converge(_ work: [Future<Void>]) throws {
        do {
            try world.run(until: { work.allSatisfy(\.isCompleted) }, within: .seconds(30))
        } catch is FutureError {
            throw Broken(description: "the clients do not come to their end")
        }
        for part in work { try part.result!.get() }
        for client in clients { client.disconnect() }
        try world.run(for: .seconds(15))
        let terms = replicas.map { $0!.saved.term }
        try world.run(for: .seconds(5))
        for (replica, term) in zip(replicas, terms) {
            let saved = replica!.saved
            try require(saved.term == term, "the term goes on from \(term) to \(saved.term)")
            try require(
                saved.log == committed,
                "replica \(replica!.id) has \(saved.log.count) of \(committed.count) entries")
            try require(replica!.counter.sum == started, "the sum is \(replica!.counter.sum), not \(started)")
            let connections = replica!.server!.activeConnections
            try require(
                connections <= 2, "replica \(replica!.id) keeps \(connections) connections of two peers")
        }
    }

    /// There is one leader in a term, and what is committed stays as it is.
    private func check() throws {
        for replica in replicas {
            guard let replica else { continue }
            if replica.role == .leader {
                let first = leaders[replica.saved.term] ?? replica.id
                leaders[replica.saved.term] = first
                try require(
                    first == replica.id, "\(first) and \(replica.id) lead in term \(replica.saved.term)")
            }
            try require(
                replica.appliedCount == replica.committedCount,
                "replica \(replica.id) has not what is committed")
            let known = replica.saved.log.prefix(replica.committedCount)
            try require(
                zip(known, committed).allSatisfy { $0 == $1 },
                "replica \(replica.id) has other entries committed")
            committed += known.dropFirst(committed.count)
        }
    }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Broken(description: text()) }
    }
}
