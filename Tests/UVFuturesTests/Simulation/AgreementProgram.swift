/// What several peers do with each other: rounds, one after the other. What a round brings about has happened
/// before the next one begins.
struct AgreementProgram {
    var peers = 2
    var rounds: [Round] = []

    struct Round {
        /// Begun at the same time. They concern different connections.
        var steps: [Step]
        /// The time that is known to pass until all has happened.
        var time: Duration = .zero
    }

    enum Carrier: CaseIterable { case tcp, unix }

    enum Side: CaseIterable { case client, server }

    /// What listens at a peer.
    enum Door {
        case plain
        /// A listener at which no other connections wait.
        case quiet
        /// A listener with room for two connections.
        case narrow
        /// Servers that send back what comes: with a future, by a pipe, and with a task.
        case echo, pipe, taskEcho

        static let servers: [Door] = [.echo, .pipe, .taskEcho]
        var isServer: Bool { Self.servers.contains(self) }
    }

    struct Place: Hashable {
        let peer: Int
        let carrier: Carrier
        let door: Door
    }

    /// The limit that a client sets.
    enum Limit { case idle, read, framing, handshake, write, cap }

    enum Step {
        case connect(Int, from: Int, to: Place, Limit? = nil, waiting: Duration = .seconds(600))
        case accept(Place)
        case refused(from: Int, to: Int, Carrier)
        case closeListener(Place)
        case drain(Place)
        case act(Int, Side, Action)
    }

    enum Action {
        case write([Int])
        case writeAndShutdown(Int)
        case writeAndClose(Int)
        /// A write, and a read at the other end that takes all of it.
        case transfer(Int, Verb)
        /// A write that the peer has no room for.
        case flood(Int)
        case cancelWrite
        case read(Verb)
        case cancelRead
        /// Lets a slow reader go on.
        case release
        case shutdownWrite
        case writable
        case close
        case closeWithin(Duration)
        case abort
        case drop
    }

    enum Verb {
        /// As many `read()` as it takes.
        case some
        case exactly(Int)
        case line(limit: Int)
        case delimited(limit: Int)
        case toEnd(limit: Int)
        case chunks, spans
        /// `forEachChunk` with a future that completes later.
        case slowChunks
        case taskChunks, taskLines
        /// Reads to the end what is left of bytes that were cut off somewhere.
        case remains

        /// Whether it takes all that comes.
        var isThorough: Bool {
            switch self {
            case .chunks, .spans, .taskChunks, .remains: true
            default: false
            }
        }

        /// Whether it takes a part of what has come, and leaves the rest.
        var leavesBytes: Bool {
            switch self {
            case .exactly, .line, .delimited: true
            default: false
            }
        }
    }
}

extension AgreementProgram: Shrinkable {
    private var places: [(round: Int, step: Int)] {
        rounds.enumerated().flatMap { round, steps in steps.steps.indices.map { (round, $0) } }
    }

    var partCount: Int { places.count }

    func without(_ part: Int) -> AgreementProgram? {
        let place = places[part]
        guard case .act = rounds[place.round].steps[place.step] else { return nil }
        var shorter = self
        shorter.rounds[place.round].steps.remove(at: place.step)
        return shorter
    }

    var description: String {
        let lines = rounds.enumerated().map { number, round in
            "round \(number): " + round.steps.map { "\($0)" }.joined(separator: "; ")
        }
        return lines.joined(separator: "\n")
            .replacing("UVFuturesTests.AgreementProgram.", with: "")
    }
}
