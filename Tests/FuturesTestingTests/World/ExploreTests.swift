import Dispatch
import FoundationEssentials
import FuturesTesting
import Glibc
import Synchronization
import TestSupport
import Testing
import UVFutures

struct ExploreTests {
    /// A client that asks once a second, under all kinds of faults.
    @Sendable private static func busyDay(_ world: World) throws {
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        var answers = 0
        client.loop.repeat(every: .seconds(1)) {
            Programs.ask(client).timeout(after: .seconds(5)).whenSuccess { _ in answers += 1 }
        }.future.ignoreFailure()
        var mix = World.FaultMix()
        mix.hosts = ["server"]
        mix.kinds.removeAll { $0 == .crash }
        world.injectFaults(mix, until: .seconds(20))
        try world.run(for: .seconds(60))
        guard answers > 30 else { throw Lost(answers: answers) }
    }

    private struct Lost: Error { let answers: Int }

    @Test("the same seed gives the same hash and the same trace, another one another")
    func same() throws {
        func run(_ seed: UInt64) throws -> (UInt64, [String]) {
            let world = World(seed: seed)
            world.keepsTrace = true
            try Self.busyDay(world)
            return (world.traceHash, world.trace)
        }
        let (one, same, other) = (try run(1), try run(1), try run(2))
        #expect(one.1 == same.1)
        #expect(one.0 == same.0)
        #expect(one.0 != other.0)
        #expect(one.1.count > 100)
    }

    @Test("many seeds run on all cores, each twice, and nothing is left of them")
    func many() throws { try World.explore(seeds: 0..<200 / UInt64(slowShare), Self.busyDay) }

    @Test("a failure is told with its seed, the fewest faults that lead to it, and the trace")
    func shrunk() throws {
        do {
            try World.explore(seeds: 0..<1000) { world in
                let server = try world.addHost("server", Programs.echo)
                try world.addHost("client")
                var mix = World.FaultMix()
                mix.kinds.removeAll { $0 == .outOfDescriptors }
                world.injectFaults(mix, until: .seconds(60))
                try world.run(for: .seconds(70))
                if server.startCount > 3 { throw Lost(answers: server.startCount) }
            }
            Issue.record("nothing failed")
        } catch let failure as ExplorationFailure {
            let report = try #require(failure.reports.first)
            #expect(report.faultsBefore > 10)
            #expect(report.faults.count == 3)
            #expect(report.faults.allSatisfy { $0.kind == .crash && $0.hosts == ["server"] })
            let text = "\(failure)"
            #expect(text.contains("Seed \(report.seed) fails: Lost(answers: 4)"))
            #expect(
                text.contains(
                    "let world = World(seed: \(report.seed), faults: [\n        .crash(\"server\", at: "))
            #expect(text.contains("server restarts"))
            #expect(text.contains("client: event loop: "))
        }
    }

    @Test(
        "a program that depends on what the world does not control is caught, with the place where traces part",
        arguments: 0..<3)
    func undetermined(common: Int) throws {
        let count = Atomic(0)
        do {
            try World.explore(seeds: 0..<1) { world in
                let host = try world.addHost("host")
                let number = count.add(1, ordering: .relaxed).newValue
                for step in 0..<common { host.note("takes step \(step)") }
                host.loop.schedule(after: .seconds(1)) { host.note("drew \(number)") }
                try world.run(for: .seconds(2))
            }
            Issue.record("nothing was found")
        } catch let failure as ExplorationFailure {
            let error = try #require(failure.reports.first?.error as? DeterminismError)
            #expect(error.first?.hasPrefix("1.000000 s  host drew ") == true)
            let before = common == 0 ? nil : "0.000000 s  host takes step \(common - 1)"
            #expect(error.before == before)
            let place = before.map { "after \"\($0)\"" } ?? "at the beginning"
            #expect(
                "\(error)".hasPrefix("two runs with the same seed differ \(place): one goes on with \"1.0"))
            #expect("\(error)".contains("The program depends on what the world does not control"))
        }
    }

    @Test("faults that only make up for one another are left out together")
    func pairs() throws {
        struct Uneven: Error {}
        let wanted = Mutex<Int?>(nil)
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                try world.addHost("server")
                var mix = World.FaultMix()
                mix.kinds = [.pause, .crash]
                world.injectFaults(mix, until: .seconds(20))
                try world.run(for: .seconds(21))
                // A whole list and each part of it that is as uneven.
                let difference = world.faults.reduce(0) { $0 + ($1.kind == .pause ? 1 : -1) }
                let first = wanted.withLock { wanted in
                    wanted = wanted ?? difference
                    return wanted
                }
                if !world.faults.isEmpty, difference == first { throw Uneven() }
            }
        }
        let report = try #require(failure).reports[0]
        let difference = abs(try #require(wanted.withLock { $0 }))
        #expect(report.faults.count == (difference == 0 ? 2 : difference), "of \(report.faultsBefore)")
    }

    @Test("a fault is moved to the time at which it is enough by itself")
    func moved() throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<100) { world in
                try world.addHost("server")
                world.injectFaults(until: .seconds(20))
                // Each fault delays the program, which is open to a fault for a moment.
                let moment = Duration.milliseconds(1200 + 800 * world.faults.count)
                let isHit = world.faults.contains {
                    (moment...moment + .milliseconds(100)).contains($0.start)
                }
                if isHit { throw Lost(answers: 0) }
            }
        }
        let faults = try #require(failure).reports[0].faults
        #expect(faults.count == 1)
    }

    @Test("a seed that needs fewer faults than the one that failed first is found")
    func otherSeeds() throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                try world.addHost("server")
                world.injectFaults(until: .seconds(20))
                let enough = world.seed == 0 ? 5 : world.seed.isMultiple(of: 2) ? 2 : 3
                if world.faults.count >= enough { throw Lost(answers: 0) }
            }
        }
        let report = try #require(failure).reports[0]
        #expect(report.seed == 0)
        #expect(report.worldSeed != 0 && report.worldSeed.isMultiple(of: 2))
        #expect(report.faults.count == 2)
        let text = "\(report)"
        #expect(
            text.contains(
                "With seed \(report.worldSeed), it also fails with 2 of its \(report.faultsBefore) "
                    + "faults. Replay it with SEED=0"
            ))
        #expect(text.contains("World(seed: \(report.worldSeed), faults: ["))
    }

    @Test("all failures are collected up to the given number")
    func collected() throws {
        do {
            try World.explore(seeds: 0..<100, maxFailures: 5, repeating: false) { world in
                if world.seed.isMultiple(of: 10) { throw Lost(answers: 0) }
            }
            Issue.record("nothing failed")
        } catch let failure as ExplorationFailure {
            #expect((5...6).contains(failure.reports.count))
            #expect(failure.reports.allSatisfy { $0.seed.isMultiple(of: 10) && $0.faults.isEmpty })
        }
    }

    @Test("the printed faults are Swift that makes them")
    func source() {
        let faults: [World.Fault] = [
            .crash("a", at: .milliseconds(312), lasting: .seconds(2)),
            .pause("a", at: .zero, lasting: .seconds(2)),
            .partition("a", "b", at: .nanoseconds(1), lasting: .seconds(2)),
            .partitionOneWay(from: "a", to: "b", at: .zero, lasting: .seconds(1)),
            .hold("a", "b", at: .zero, lasting: .seconds(1)),
            .slow("a", "b", at: .zero, lasting: .seconds(1)),
            .breakConnections("a", "b", at: .seconds(1)),
            .unreliable("a", "b", at: .zero, lasting: .seconds(1)),
            .outOfDescriptors("a", at: .zero, lasting: .seconds(1)),
            .silentName("a", at: .zero, lasting: .seconds(1)),
            .slowDisk("a", at: .zero, lasting: .seconds(1)),
            .fullDisk("a", at: .zero, lasting: .seconds(1)),
            .failingDisk("a", at: .zero, lasting: .seconds(1)),
        ]
        #expect(
            faults.map(\.description) == [
                ".crash(\"a\", at: .milliseconds(312), lasting: .milliseconds(2000))",
                ".pause(\"a\", at: .milliseconds(0), lasting: .milliseconds(2000))",
                ".partition(\"a\", \"b\", at: .nanoseconds(1), lasting: .milliseconds(2000))",
                ".partitionOneWay(from: \"a\", to: \"b\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".hold(\"a\", \"b\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".slow(\"a\", \"b\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".breakConnections(\"a\", \"b\", at: .milliseconds(1000))",
                ".unreliable(\"a\", \"b\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".outOfDescriptors(\"a\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".silentName(\"a\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".slowDisk(\"a\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".fullDisk(\"a\", at: .milliseconds(0), lasting: .milliseconds(1000))",
                ".failingDisk(\"a\", at: .milliseconds(0), lasting: .milliseconds(1000))",
            ])
        #expect(Set(faults.map(\.kind)) == Set(World.Fault.Kind.allCases))
    }

    @Test("each seed of the range is tried, and no other")
    func range() throws {
        let seeds = Mutex<[UInt64]>([])
        try World.explore(seeds: 3..<40, repeating: false) { world in
            seeds.withLock { $0.append(world.seed) }
        }
        #expect(seeds.withLock { $0.sorted() } == Array(3..<40))
    }

    @Test("a difference that does not show again is looked for ten times")
    func rare() throws {
        let count = Atomic(0)
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                if count.add(1, ordering: .relaxed).newValue == 1 { world.note("once") }
            }
        }
        #expect(count.load(ordering: .relaxed) == 2 + 1 + 10)
        let report = try #require(failure).reports[0]
        #expect(
            "\(report.error)".hasPrefix(
                "two runs with the same seed had the same events, but sent different bytes in them. The program"
            ))
    }

    @Test("with SEED in the environment, only that seed is run, once, and its trace is printed")
    func replayed() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            unsafe setenv("SEED", "70", 1)
            let count = Atomic(0)
            let error = #expect(throws: WorldFailure.self) {
                try World.explore(seeds: 0..<3) { world in
                    count.add(1, ordering: .relaxed)
                    try world.addHost("a") { _ in throw CancellationError() }
                    try world.run(for: .zero)
                }
            }
            #expect(error?.seed == 70 && count.load(ordering: .relaxed) == 1)
        }
        let printed = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(printed.contains("0.000000 s  the program of host a fails: CancellationError()\n"))
    }

    @Test("a failure that does not show again is told with the error that it had")
    func once() throws {
        let count = Atomic(0)
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { _ in
                if count.add(1, ordering: .relaxed).newValue < 3 { throw Lost(answers: 7) }
            }
        }
        #expect((failure?.reports[0].error as? Lost)?.answers == 7)
    }

    @Test("a difference of which one side fails is told with that error")
    func differenceThatFails() throws {
        let count = Atomic(0)
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                let number = count.add(1, ordering: .relaxed).newValue
                if number == 2 { world.note("once") }
                if number == 4 { throw Lost(answers: 8) }
            }
        }
        #expect((failure?.reports[0].error as? Lost)?.answers == 8)
    }

    @Test("of two traces one may be the beginning of the other", arguments: [0, 1])
    func beginning(longer: Int) throws {
        let count = Atomic(0)
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                world.note("always")
                if count.add(1, ordering: .relaxed).newValue % 2 == longer { world.note("more") }
            }
        }
        let error = try #require(failure?.reports[0].error as? DeterminismError)
        let more = "0.000000 s  more"
        #expect(error.first == (longer == 1 ? more : nil) && error.second == (longer == 1 ? nil : more))
        let sides = longer == 1 ? [more, "nothing"] : ["nothing", more]
        #expect(
            "\(error)".hasPrefix(
                "two runs with the same seed differ after \"0.000000 s  always\": one goes on with "
                    + "\"\(sides[0])\", the other with \"\(sides[1])\"."))
    }

    @Test("a report tells which hosts are down")
    func down() throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<1) { world in
                for name in ["a", "b"] { try world.addHost(name) }
                world.host("a").crash()
                throw Lost(answers: 0)
            }
        }
        let report = try #require(failure).reports[0]
        #expect(report.underWay.first == "a is down")
        #expect(report.underWay.dropFirst().allSatisfy { $0.hasPrefix("b: ") })
    }
}
