import UVFutures

/// One of the replicas that keep a counter together, by the algorithm Raft: they elect a leader, which puts all
/// changes into one order, and a change counts when most of them have stored it.
final class Replica {
    enum Role { case follower, candidate, leader }

    /// What a request may have as a number, and as an amount: sums of these do not overflow.
    static let numbers = 0..<(1 << 53)
    static let amounts = -(1 << 32)...(1 << 32)

    let id: Int
    let members: [Member]
    let loop: EventLoop
    let mistake: Mistake?
    let store: Store
    /// The other replicas, with their numbers.
    private(set) var others: [Other] = []
    private(set) var server: TCPServer?

    var saved: Saved
    var role = Role.follower
    var leader: Int?
    var votes = 0
    var electionTimer: ScheduledTask<Void>?

    /// How many entries are stored here, and how many most replicas have: what is committed.
    var storedCount: Int
    var committedCount = 0
    var appliedCount = 0
    var counter = Counter()
    /// Clients whose change is not committed yet, by the number of entries up to it.
    var waiting: [(count: Int, term: Int, answer: Promise<String>)] = []

    /// What a leader knows of another replica.
    final class Other {
        let id: Int
        let peer: Peer
        var nextCount = 0
        var matchingCount = 0

        init(_ id: Int, _ peer: Peer) { (self.id, self.peer) = (id, peer) }
    }

    /// Creates a replica that remembers `saved`. `write` stores a text, and returns when it is on the disk.
    init(
        _ id: Int, of members: [Member], saved: Saved = Saved(), on loop: EventLoop, mistake: Mistake? = nil,
        write: @escaping @Sendable (String) throws -> Void
    ) {
        (self.id, self.members, self.saved, self.loop, self.mistake) = (id, members, saved, loop, mistake)
        storedCount = saved.log.count
        store = Store(saved, on: loop, write: write)
        others = members.indices.filter { $0 != id }
            .map { Other($0, Peer(members[$0], patience: .milliseconds(300), on: loop, mistake: mistake)) }
    }

    var majority: Int {
        let isCounted = { [mistake] (other: Other) in
            mistake != .countsOnlyTheReachable || other.peer.isReachable
        }
        return (others.count(where: isCounted) + 1) / 2 + 1
    }

    /// Listens to the other replicas and to clients.
    @discardableResult
    func serve(host: String, port: Int) throws -> TCPServer {
        var limits = StreamLimits()
        // Peers that are gone may have gone without a word.
        limits.idleTimeout = mistake == .keepsDeadConnections ? nil : .seconds(10)
        let server = try TCPServer.listen(
            host: host, port: port, options: ListenOptions(limits: limits), on: loop
        ) {
            [self] connection in
            for try await line in connection.lines() {
                let words = line.text.split(separator: " ")
                guard let number = words.first else { continue }
                // Answers leave in the order in which they are ready.
                answer(words.dropFirst().map(String.init))
                    .whenSuccess { connection.write("\(number) \($0)\n") }
            }
        }
        server.onConnectionError = { _ in }
        self.server = server
        waitForLeader()
        return server
    }

    private func answer(_ words: [String]) -> Future<String> {
        let numbers = words.dropFirst().prefix(5).compactMap { Int($0) }
        let entries = words.dropFirst(6).compactMap { Entry($0) }
        let isValid = numbers.allSatisfy { Self.numbers.contains($0) }
        return switch (words.first, numbers.count, words.count) {
        case ("vote", 4, 5) where isValid:
            vote(for: numbers[1], in: numbers[0], holding: numbers[2], lastTerm: numbers[3])
        case ("append", 5, 6 + entries.count) where isValid:
            append(
                entries, after: numbers[2], previousTerm: numbers[3], of: numbers[1], in: numbers[0],
                committed: numbers[4])
        case ("add", 3, 4)
        where numbers[..<2].allSatisfy(Self.numbers.contains) && Self.amounts.contains(numbers[2]):
            add(numbers[2], for: numbers[0], number: numbers[1])
        case ("get", 0, 1): get()
        default: loop.succeeded("error not a request")
        }
    }

    func save() -> Future<Void> {
        var saved = saved
        if mistake == .forgetsTerms { (saved.term, saved.vote) = (0, nil) }
        return store.save(saved)
    }
}
