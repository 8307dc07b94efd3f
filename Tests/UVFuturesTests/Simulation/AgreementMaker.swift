import TestSupport

/// Makes a random program.
struct AgreementMaker {
    typealias Program = AgreementProgram

    var random: SeededGenerator
    var program = Program()
    /// The connections so far, which of them belong to servers, and which are in use by the current round.
    private var connections = 0
    private var echoed: Set<Int> = []
    private var used: Set<Int> = []
    /// The places at which connections wait to be accepted.
    private var waiting: [Program.Place] = []

    static func program(seed: UInt64) -> Program {
        var maker = AgreementMaker(random: SeededGenerator(seed: seed))
        return maker.make()
    }

    private init(random: SeededGenerator) { self.random = random }

    private mutating func make() -> Program {
        program.peers = 2 + random.below(3)
        for _ in 0..<(6 + random.below(14)) { addRound() }
        if random.below(4) == 0 { addScene() }
        if random.below(40) == 0 { addTimedScene() }
        addEnd()
        return program
    }

    private mutating func addRound() {
        used = []
        var steps: [Program.Step] = []
        var time = Duration.zero
        for _ in 0..<(random.below(3) == 0 ? 3 : 1) {
            if connections == 0 || random.below(100) < (connections < 4 ? 20 : 3) {
                steps += connect()
            } else if let step = moreStep(&time) {
                steps.append(step)
                if case .closeListener = step {
                    // What its connections do at the same time may come too late.
                    steps = [step]
                    break
                }
            }
        }
        add(steps, time: time)
    }

    mutating func add(_ steps: [Program.Step], time: Duration = .zero) {
        program.rounds.append(Program.Round(steps: steps, time: time))
    }

    private mutating func place(_ door: Program.Door) -> Program.Place {
        Program.Place(
            peer: random.below(program.peers), carrier: random.below(3) == 0 ? .unix : .tcp, door: door)
    }

    mutating func newConnection() -> Int {
        connections += 1
        used.insert(connections)
        return connections
    }

    // MARK: Steps

    /// Connects, mostly to a listener that accepts at once.
    private mutating func connect() -> [Program.Step] {
        let door = random.below(5) < 3 ? .plain : Program.Door.servers[random.below(3)]
        let place = place(door)
        // Two connections to one listener in one round may arrive in any order.
        guard !used.contains(-place.peer - 1) else { return [] }
        used.insert(-place.peer - 1)
        let number = newConnection()
        if door.isServer { echoed.insert(number) }
        let step = Program.Step.connect(number, from: random.below(program.peers), to: place)
        if door.isServer { return [step] }
        if random.below(8) == 0 {
            waiting.append(place)
            return [step]
        }
        return [step, .accept(place)]
    }

    private mutating func moreStep(_ time: inout Duration) -> Program.Step? {
        switch random.below(40) {
        case 0:
            return .refused(
                from: random.below(program.peers), to: random.below(program.peers),
                random.below(2) == 0 ? .tcp : .unix)
        case 1, 2:
            guard !waiting.isEmpty else { return nil }
            let place = waiting.removeFirst()
            guard used.insert(-place.peer - 1).inserted else { return nil }
            return random.below(2) == 0 ? .accept(place) : .closeListener(place)
        default:
            let number = 1 + random.below(connections)
            guard used.insert(number).inserted else { return nil }
            let side: Program.Side = echoed.contains(number) || random.below(2) == 0 ? .client : .server
            return .act(number, side, action(&time))
        }
    }

    private mutating func action(_ time: inout Duration) -> Program.Action {
        switch random.below(100) {
        case 0..<22: return .write([size()])
        case 22..<26: return .write((0..<(2 + random.below(4))).map { _ in size() / 4 })
        case 26..<29: return .writeAndShutdown(size())
        case 29..<32: return .writeAndClose(size())
        case 32..<47: return .transfer(1 + random.below(300_000), drainingVerb())
        case 47..<77: return .read(verb())
        case 77..<80: return .cancelRead
        case 80..<82: return .release
        case 82..<86: return .shutdownWrite
        case 86..<88: return .writable
        case 88..<91: return .close
        case 91..<94:
            time = .milliseconds(20)
            return .closeWithin(.milliseconds(random.below(2) * 10))
        case 94..<97: return .abort
        default: return .drop
        }
    }

    mutating func size() -> Int {
        switch random.below(4) {
        case 0: 1 + random.below(10)
        case 1: 1 + random.below(300)
        case 2: 1 + random.below(5000)
        default: 1 + random.below(40_000)
        }
    }

    private mutating func verb() -> Program.Verb {
        switch random.below(16) {
        case 0..<4: .some
        case 4..<7: .exactly(size())
        case 7: .line(limit: 1 + random.below(100))
        case 8: .line(limit: 65_536)
        case 9: .delimited(limit: 1 + random.below(300))
        case 10: .delimited(limit: 65_536)
        case 11: .toEnd(limit: random.below(2) == 0 ? size() : 16_777_216)
        case 12: .slowChunks
        case 13: .taskLines
        default: [.chunks, .spans, .taskChunks][random.below(3)]
        }
    }

    private mutating func drainingVerb() -> Program.Verb {
        let verbs: [Program.Verb] = [
            .some, .some, .exactly(0), .exactly(0), .chunks, .spans, .taskChunks, .toEnd(limit: 16_777_216),
        ]
        return verbs[random.below(verbs.count)]
    }

    // MARK: Ends

    /// Ends the connections, each in one of the ways in which connections end.
    private mutating func addEnd() {
        for number in 1...max(1, connections) {
            let first: Program.Side = random.below(2) == 0 ? .client : .server
            let second: Program.Side = first == .client ? .server : .client
            let ends: [Program.Action] = [.close, .close, .shutdownWrite, .writeAndClose(size()), .drop]
            let answers: [Program.Action] = [.close, .close, .read(.chunks), .drop, .abort]
            if random.below(3) == 0 {
                add([.act(number, first, .close), .act(number, second, .close)])
            } else {
                add([.act(number, first, ends[random.below(ends.count)])])
                add([.act(number, second, answers[random.below(answers.count)])])
            }
        }
    }
}
