internal import Dispatch
internal import Futures
internal import Synchronization

extension World {
    /// Runs `body` once for each of `seeds`, each in its own world, on all cores. Throws an ``ExplorationFailure`` with
    /// the shortest list of faults found that still leads to a failure, if the body or a program of its world fails.
    ///
    /// `body` adds the hosts, injects faults, runs the world, and throws if the outcome is wrong. Only a thrown error
    /// counts: a failed `#expect` in the body does not belong to any test. The body may be called on any thread, and
    /// several calls run at the same time. Each seed runs twice. If the body behaves differently in the two runs, it
    /// fails with the place where the two traces diverge. Skip the second run with `repeating: false`. After
    /// `maxFailures` failures, no further seeds are tried. Throws `FutureError.invalidArgument` if `maxFailures` is
    /// less than one.
    ///
    /// If the environment variable `SEED` is set, only that seed runs, once, and its trace is printed.
    ///
    /// ```swift
    /// try World.explore(seeds: 0..<1000) { world in
    ///     let host = try world.addHost("a")
    ///     world.injectFaults(until: .seconds(30))
    ///     try world.run(until: host.loop.sleep(for: .seconds(60)))
    /// }
    /// ```
    public static func explore(
        seeds: Range<UInt64>, maxFailures: Int = 1, repeating: Bool = true,
        _ body: @escaping @Sendable (World) throws -> Void
    ) throws {
        try requireArgument("maxFailures", maxFailures, atLeast: 1)
        let experiment = Experiment(body: body)
        if let seed = Experiment.seedOfEnvironment { return try experiment.replay(seed) }
        let next = Atomic(seeds.lowerBound)
        let failures = Locked<[UInt64]>([])
        DispatchQueue.concurrentPerform(iterations: Experiment.coreCount) { _ in
            while failures.withLock({ $0.count < maxFailures }) {
                let seed = next.add(1, ordering: .relaxed).oldValue
                guard seed < seeds.upperBound else { return }
                if experiment.fails(seed, repeating: repeating) { failures.withLock { $0.append(seed) } }
            }
        }
        let found = failures.withLock { $0 }.sorted()
        guard !found.isEmpty else { return }
        throw ExplorationFailure(reports: found.map { experiment.report($0, repeating: repeating) })
    }
}

/// The seeds that failed in ``World/explore(seeds:maxFailures:repeating:_:)``.
public struct ExplorationFailure: Error {
    /// The report on one failing seed.
    public struct Report: Sendable {
        public let seed: UInt64
        /// The seed of the world that fails with the faults below. It differs from ``seed`` if fewer faults suffice
        /// with another seed.
        public let worldSeed: UInt64
        /// The error of the run with the faults below.
        public let error: any Error
        /// The shortest list of faults found that still leads to a failure. Some faults may begin earlier than in the
        /// first run.
        public let faults: [World.Fault]
        /// The number of faults of the first run.
        public let faultsBefore: Int
        /// The trace of the run with the faults above.
        public let trace: [String]
        /// The objects that were still alive at the end of that run.
        public let underWay: [String]
    }

    public let reports: [Report]
}

extension ExplorationFailure: CustomStringConvertible {
    public var description: String { reports.map(\.description).joined(separator: "\n\n") }
}

extension ExplorationFailure.Report: CustomStringConvertible {
    /// The error, the code that reproduces it, the end of the trace, and the objects that were still alive.
    public var description: String {
        let list = faults.map { "        \($0),\n" }.joined()
        let other = worldSeed == seed ? "It" : "With seed \(worldSeed), it"
        let world = "World(seed: \(worldSeed), faults: [\(list.isEmpty ? "" : "\n\(list)    ")])"
        return """
            Seed \(seed) fails: \(error)
            \(other) also fails with \(faults.count) of its \(faultsBefore) faults. Replay it with SEED=\(seed), or in a test with

                let world = \(world)

            The last of \(trace.count) events:
            \(trace.suffix(40).map { "  \($0)" }.joined(separator: "\n"))
            Still under way:
            \(underWay.map { "  \($0)" }.joined(separator: "\n"))
            """
    }
}
