import FoundationEssentials
import UVFutures

/// A program that is being run on a stage.
final class AgreementRun {
    typealias Program = AgreementProgram

    let stage: any AgreementStage
    let outcomes = AgreementOutcomes()
    var ends: [Int: (client: AgreementEnd, server: AgreementEnd)] = [:]
    var doors: [Program.Place: AgreementDoor] = [:]

    /// Returns what could be seen at the end of each round. With `expected`, which is what was seen elsewhere,
    /// ends with the first round that is not like it.
    static func outcomes(
        of program: Program, on stage: any AgreementStage, expecting expected: [[String]]? = nil
    ) throws -> [[String]] {
        try AgreementRun(program, stage).run(program, expected)
    }

    private init(_ program: Program, _ stage: any AgreementStage) {
        self.stage = stage
        for peer in 0..<program.peers {
            stage.loop(peer).onUnhandledFailure = { [outcomes] in outcomes.report(agreementName(of: $0)) }
        }
    }

    private func run(_ program: Program, _ expected: [[String]]?) throws -> [[String]] {
        var seen: [[String]] = []
        var rounds = program.rounds.map { round in
            (time: round.time, begin: { try round.steps.forEach(self.begin) })
        }
        rounds.append((.zero, { self.endConnections(\.client) }))
        rounds.append((.zero, { self.endConnections(\.server) }))
        rounds.append((.zero, endSlowReaders))
        rounds.append((.milliseconds(500), closeDoors))
        for (number, round) in rounds.enumerated() {
            try round.begin()
            let isAsExpected = try stage.settle(for: round.time) {
                expected.map { $0[number] == self.lines } ?? true
            }
            seen.append(lines)
            if !isAsExpected { break }
        }
        return seen
    }

    /// What can be seen now.
    private var lines: [String] {
        let ends = ends.sorted { $0.key < $1.key }.flatMap { [$1.client, $1.server] }
        let doors = doors.values.compactMap { $0.progress?() }.sorted()
        return outcomes.lines + doors + ends.map { "\($0.name) took \($0.taken) bytes\($0.arrivals)" }
    }

    private func begin(_ step: Program.Step) throws {
        switch step {
        case .connect(let number, let from, let to, let limit, let timeout):
            try connect(number, from: from, to: to, limit, timeout)
        case .accept(let place): try accept(at: place)
        case .refused(let from, let to, let carrier): beRefused(from: from, to: to, carrier)
        case .closeListener(let place): closeListener(at: place)
        case .drain(let place): drain(place)
        case .act(let number, let side, let action):
            guard let both = ends[number] else { return }
            act(side == .client ? both.client : both.server, action)
        }
    }

    /// Ends what the program has left.
    private func endConnections(_ side: KeyPath<(client: AgreementEnd, server: AgreementEnd), AgreementEnd>) {
        for (_, both) in ends.sorted(by: { $0.key < $1.key }) {
            let end = both[keyPath: side]
            act(end, .abort)
            end.stream = nil
        }
    }

    private func endSlowReaders() {
        for (_, both) in ends.sorted(by: { $0.key < $1.key }) {
            for end in [both.client, both.server] {
                end.isLeft = true
                end.gate.take()?.succeed()
            }
        }
    }

    private func closeDoors() {
        for place in doors.keys.sorted(by: { "\($0)" < "\($1)" }) {
            if place.door.isServer { drain(place) } else { closeListener(at: place) }
        }
    }
}

/// A listener or a server of a program.
struct AgreementDoor {
    /// The port. 0 for a socket of the UNIX domain.
    var port = 0
    var accept: () -> Future<SocketConnection>
    var close: () -> Future<String>
    /// What has become of the connections of a server so far.
    var progress: (() -> String)?
    /// The connections that wait to be accepted.
    var waiting: [Int] = []
}
