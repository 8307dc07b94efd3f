internal import FoundationEssentials

/// A body that is run in one world after another.
struct Experiment: Sendable {
    static var coreCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// The seed in the environment variable `SEED`. `nil` if it is not set.
    static var seedOfEnvironment: UInt64? {
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) }
    }

    let body: @Sendable (World) throws -> Void

    /// One run of the body.
    struct Run {
        let error: (any Error)?
        let hash: UInt64
        let faults: [World.Fault]
        var trace: [String] = []
        var underWay: [String] = []

        /// The type of the error, which distinguishes one failure from another.
        var kindOfError: String? { error.map { "\(type(of: ($0 as? WorldFailure)?.error ?? $0))" } }
    }

    func run(_ seed: UInt64, faults: [World.Fault]? = nil, keepingTrace: Bool = false) -> Run {
        let world = World(seed: seed, faults: faults)
        defer { world.end() }
        world.keepsTrace = keepingTrace
        var failure: (any Error)?
        do {
            try body(world)
            failure = world.failure
        } catch {
            failure = error
        }
        var run = Run(error: failure, hash: world.traceHash, faults: world.faults)
        if keepingTrace {
            run.trace = world.trace
            run.underWay = world.hosts.flatMap(\.underWay)
        }
        return run
    }

    func fails(_ seed: UInt64, repeating: Bool) -> Bool {
        let first = run(seed)
        return first.error != nil || repeating && run(seed).hash != first.hash
    }

    /// Runs the seed once, and prints its trace. Throws the error of the run.
    func replay(_ seed: UInt64) throws {
        let run = run(seed, keepingTrace: true)
        for line in run.trace { print(line) }
        if let error = run.error { throw error }
    }

    /// Investigates a failing seed: shrinks its faults, and records the trace.
    func report(_ seed: UInt64, repeating: Bool) -> ExplorationFailure.Report {
        let first = run(seed, keepingTrace: true)
        guard first.error != nil else { return reportDifference(seed, first) }
        var shrinking = Shrinking(seed, first.faults) {
            run($0, faults: $1).kindOfError == first.kindOfError
        }
        shrinking.shrink()
        let last = run(shrinking.seed, faults: shrinking.faults, keepingTrace: true)
        return report(
            seed, last.error ?? first.error!, shrinking.faults, first, last, worldSeed: shrinking.seed)
    }

    private func report(
        _ seed: UInt64, _ error: any Error, _ faults: [World.Fault], _ first: Run, _ last: Run,
        worldSeed: UInt64? = nil
    ) -> ExplorationFailure.Report {
        ExplorationFailure.Report(
            seed: seed, worldSeed: worldSeed ?? seed, error: error, faults: faults,
            faultsBefore: first.faults.count, trace: last.trace, underWay: last.underWay)
    }

    /// Reports where two runs of a seed diverge.
    private func reportDifference(_ seed: UInt64, _ first: Run) -> ExplorationFailure.Report {
        for _ in 0..<10 {
            let second = run(seed, keepingTrace: true)
            if let error = second.error { return report(seed, error, second.faults, second, second) }
            guard second.hash != first.hash else { continue }
            let index = zip(first.trace, second.trace).prefix { $0 == $1 }.count
            let error = DeterminismError(
                before: index > 0 ? first.trace[index - 1] : nil,
                first: index < first.trace.count ? first.trace[index] : nil,
                second: index < second.trace.count ? second.trace[index] : nil)
            return report(seed, error, first.faults, first, second)
        }
        let error = DeterminismError(before: nil, first: nil, second: nil)
        return report(seed, error, first.faults, first, first)
    }
}

/// The error of a body that behaved differently in two runs with the same seed.
public struct DeterminismError: Error, Hashable {
    /// The last line that both traces share, and the next line of each trace. `nil` if there is no such line, or if the
    /// traces differ only in the bytes that were sent.
    public let before, first, second: String?
}

extension DeterminismError: CustomStringConvertible {
    public var description: String {
        let advice =
            "The program depends on what the world does not control: a real clock, a thread, random numbers that are not "
            + "the loop's, or the order of a Set or a Dictionary."
        guard first != second else {
            return
                "two runs with the same seed had the same events, but sent different bytes in them. \(advice)"
        }
        let place = before.map { "after \"\($0)\"" } ?? "at the beginning"
        return
            "two runs with the same seed differ \(place): one goes on with \"\(first ?? "nothing")\", the "
            + "other with \"\(second ?? "nothing")\". \(advice)"
    }
}
