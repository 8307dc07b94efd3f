import UVFutures

/// Changes and reads the counter, whoever leads, as often as it takes.
final class Client {
    private let loop: EventLoop
    private let peers: [Peer]
    private let attempts: Int
    private let mistake: Mistake?
    private let id: Int
    private var lastNumber = 0
    /// The replica that probably leads.
    private var current = 0

    struct NoLeader: Error {}

    init(of members: [Member], attempts: Int = 100, on loop: EventLoop, mistake: Mistake? = nil) {
        (self.loop, self.attempts, self.mistake) = (loop, attempts, mistake)
        id = Int.random(in: 1..<Replica.numbers.upperBound, using: &loop.random)
        peers = members.map { Peer($0, patience: .seconds(1), on: loop, mistake: mistake) }
    }

    /// Adds an amount, once though it may be sent several times. Completes with the sum then.
    func add(_ amount: Int) -> Future<Int> {
        lastNumber += 1
        let number = lastNumber
        return ask { [self] attempt in
            "add \(id) \(mistake == .renumbersRetries ? 1000 * number + attempt : number) \(amount)"
        }
    }

    /// Completes with a sum that was valid at some time since the call.
    func get() -> Future<Int> { ask { _ in "get" } }

    func disconnect() {
        for peer in peers { peer.disconnect() }
    }

    private func ask(_ request: @escaping (Int) -> String) -> Future<Int> {
        loop.retry(attempts: attempts, backoff: .constant(.milliseconds(100))) { [self] attempt in
            let asked = current
            return peers[asked].ask(request(attempt)).map { [self] answer in
                let words = answer.split(separator: " ")
                let number = words.count == 2 ? Int(words[1]) : nil
                if words.first == "sum", let number { return number }
                if words.first == "leader", let number, peers.indices.contains(number) { current = number }
                throw NoLeader()
            }
            .tapError { [self] error in
                if !(error is NoLeader), current == asked { current = (asked + 1) % peers.count }
            }
        }
    }
}
