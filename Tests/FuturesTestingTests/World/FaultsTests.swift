import FoundationEssentials
import FuturesTesting
import Testing
import UVFutures

struct FaultsTests {
    /// Whether the server answers a client within 2 s, at each second.
    private func answers(during fault: World.Fault, seconds: Int) throws -> [Bool] {
        let world = World(seed: 1, faults: [fault])
        try world.addHost("server", Programs.echo)
        let client = try world.addHost("client")
        world.injectFaults(until: .seconds(Int64(seconds)))
        return try (0..<seconds).map { second in
            try world.run(for: .seconds(Int64(second)) - world.now)
            let answer = Programs.ask(client).timeout(after: .milliseconds(900))
            return (try? world.run(until: answer)) == Data("hello".utf8)
        }
    }

    @Test(
        "a fault begins and ends when it says, and the world is whole again",
        arguments: [
            .crash("server", at: .milliseconds(1950), lasting: .seconds(3)),
            .pause("server", at: .milliseconds(1950), lasting: .seconds(3)),
            .partition("server", "client", at: .milliseconds(1950), lasting: .seconds(3)),
            .partitionOneWay(from: "server", to: "client", at: .milliseconds(1950), lasting: .seconds(3)),
            .hold("server", "client", at: .milliseconds(1950), lasting: .seconds(3)),
            .slow("server", "client", at: .milliseconds(1950), lasting: .seconds(3)),
            .silentName("server", at: .milliseconds(1950), lasting: .seconds(3)),
            .outOfDescriptors("client", at: .milliseconds(1950), lasting: .seconds(3)),
        ] as [World.Fault])
    func lasting(fault: World.Fault) throws {
        #expect(
            try answers(during: fault, seconds: 8) == [true, true, false, false, false, true, true, true])
    }

    @Test(
        "a fault of a disk begins and ends when it says",
        arguments: [
            (.fullDisk("a", at: .milliseconds(1950), lasting: .seconds(3)), .noSpace),
            (.failingDisk("a", at: .milliseconds(1950), lasting: .seconds(3)), .inputOutput),
            (.slowDisk("a", at: .milliseconds(1950), lasting: .seconds(3)), nil),
        ] as [(World.Fault, SystemError.Code?)])
    func ofDisks(fault: World.Fault, code: SystemError.Code?) throws {
        let world = World(seed: 1, faults: [fault])
        let host = try world.addHost("a")
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        world.injectFaults(until: .seconds(8))
        let results = try (0..<8).map { second in
            try world.run(for: max(.zero, .seconds(Int64(second)) - world.now))
            // Some of the operations of a failing disk succeed.
            let appends = (0..<10).map { _ in directory.append(Data(count: 1), to: "x") }
            return appends.map { append in
                do { try world.run(until: append.timeout(after: .milliseconds(50))) } catch {
                    if let code { #expect((error as? FileError)?.code == code, "\(error)") }
                    return false
                }
                return true
            }.allSatisfy { $0 }
        }
        #expect(results == [true, true, false, false, false, true, true, true])
        world.end()
    }

    @Test("a mix makes only its kinds, for its hosts, in its time, and the same for the same seed")
    func mixed() throws {
        func faults(_ seed: UInt64) throws -> [World.Fault] {
            let world = World(seed: seed)
            for name in ["a", "b", "c"] { try world.addHost(name) }
            var mix = World.FaultMix()
            mix.kinds = [.partition, .pause]
            mix.hosts = ["a", "b"]
            mix.interval = .milliseconds(10)...(.milliseconds(20))
            world.injectFaults(mix, until: .seconds(3))
            return world.faults
        }
        let made = try faults(1)
        #expect((150...300).contains(made.count))
        #expect(made.allSatisfy { [.partition, .pause].contains($0.kind) })
        #expect(Set(made.flatMap(\.hosts)) == ["a", "b"])
        #expect(made.allSatisfy { $0.start + $0.duration <= .seconds(3) })
        #expect(made.filter { $0.kind == .partition }.allSatisfy { Set($0.hosts).count == 2 })
        #expect(try faults(1) == made)
        #expect(try faults(2) != made)
    }

    @Test("faults happen at the times of the world's clock, and those of the past at once")
    func late() throws {
        let faults: [World.Fault] = [
            .pause("a", at: .milliseconds(500), lasting: .seconds(1)),
            .pause("b", at: .seconds(3), lasting: .seconds(1)),
        ]
        let world = World(seed: 1, faults: faults)
        let hosts = try ["a", "b"].map { try world.addHost($0) }
        try world.run(for: .seconds(1))
        world.injectFaults(until: .seconds(8))
        #expect(world.faults == faults)
        var changes: [Duration: [Bool]] = [:]
        for _ in 0..<40 {
            try world.run(for: .milliseconds(99))
            let before = hosts.map(\.isPaused)
            try world.run(for: .milliseconds(1))
            if hosts.map(\.isPaused) != before { changes[world.now] = hosts.map(\.isPaused) }
        }
        #expect(
            changes == [
                .seconds(2): [false, false], .seconds(3): [false, true], .seconds(4): [false, false],
            ])
        #expect(!hosts[0].isPaused)
    }

    @Test("the trace tells when a fault begins and ends")
    func told() throws {
        let faults: [World.Fault] = [
            .partition("a", "b", at: .seconds(1), lasting: .seconds(1)),
            .pause("a", at: .seconds(3), lasting: .seconds(1)),
            .crash("a", at: .seconds(5), lasting: .seconds(1)),
            .silentName("b", at: .seconds(7), lasting: .seconds(1)),
            .breakConnections("a", "b", at: .seconds(9)),
        ]
        let world = World(seed: 1, faults: faults)
        for name in ["a", "b"] { try world.addHost(name) }
        world.keepsTrace = true
        world.injectFaults(until: .seconds(10))
        try world.run(for: .seconds(10))
        #expect(
            world.trace == [
                "1.000000 s  fault: \(faults[0])", "2.000000 s  over: \(faults[0])",
                "3.000000 s  fault: \(faults[1])", "3.000000 s  a pauses", "4.000000 s  a goes on",
                "5.000000 s  fault: \(faults[2])", "5.000000 s  a crashes", "6.000000 s  a restarts",
                "7.000000 s  fault: \(faults[3])", "7.000000 s  nobody answers questions for b",
                "9.000000 s  fault: \(faults[4])", "9.000000 s  the connections of a – b break",
            ])
    }

    @Test("what is slowed down for longer than a second is slowed down by a second")
    func slow() throws {
        for (lasting, added) in [(200, 200), (5000, 1000)] {
            let faults: [World.Fault] = [
                .slow("a", "b", at: .zero, lasting: .milliseconds(lasting)),
                .slowDisk("b", at: .zero, lasting: .milliseconds(lasting)),
            ]
            let world = World(seed: 1, faults: faults)
            world.latency = .constant(.milliseconds(10))
            try world.addHost("a", Programs.echo)
            let host = try world.addHost("b")
            host.disk.latency = .constant(.milliseconds(10))
            world.injectFaults(until: .seconds(10))
            try world.run(for: .milliseconds(1))
            let start = world.now
            var (connected, opened): (Duration?, Duration?) = (nil, nil)
            TCPConnection.connect(host: "10.0.0.1", port: 7, on: host.loop).whenSuccess { connection in
                connected = world.now - start
                connection.abort()
            }
            Directory.open("/", on: host.loop).whenSuccess { _ in opened = world.now - start }
            try world.run(until: { connected != nil && opened != nil })
            #expect(opened == .milliseconds(10 + added))
            // The way back of the short one begins when the fault is over.
            #expect(connected == .milliseconds(lasting == 200 ? 20 + 200 : 20 + 2 * added))
            try world.run(for: .seconds(10) - world.now)
            let end = world.now
            _ = try world.run(until: Directory.open("/", on: host.loop))
            #expect(world.now - end == .milliseconds(10))
        }
    }

    @Test("a host without descriptors opens no file, and one to which it happens twice waits for both ends")
    func shortages() throws {
        let world = World(
            seed: 1,
            faults: [
                .outOfDescriptors("a", at: .seconds(1), lasting: .seconds(2)),
                .outOfDescriptors("a", at: .seconds(2), lasting: .seconds(2)),
            ])
        let host = try world.addHost("a")
        world.injectFaults(until: .seconds(8))
        try world.run(for: .milliseconds(500))
        var opened: [Bool] = []
        for _ in 0..<5 {
            let directory = Directory.open("/", on: host.loop)
            opened.append(world.failure(of: directory) == "nothing fails")
            try world.run(for: .milliseconds(500 + 1000 * opened.count) - world.now)
        }
        #expect(opened == [true, false, false, false, true])
        world.end()
    }

    @Test("an unreliable link loses, doubles and reorders three of ten datagrams while the fault lasts")
    func unreliable() throws {
        let hosts = try DatagramHosts(
            faults: [.unreliable("client", "server", at: .seconds(1), lasting: .seconds(1))])
        hosts.listen()
        hosts.world.injectFaults(until: .seconds(3))
        try hosts.send(3000)
        let (numbers, bad) = (hosts.numbers, 1000..<2000)
        let lost = Set(0..<3000).subtracting(numbers)
        #expect((250...350).contains(lost.count) && lost.allSatisfy(bad.contains), "\(lost.count)")
        let doubled = Dictionary(grouping: numbers) { $0 }.filter { $0.value.count == 2 }.map(\.key)
        #expect((160...260).contains(doubled.count) && doubled.allSatisfy(bad.contains), "\(doubled.count)")
        let late = zip(numbers, hosts.times).filter { number, time in time > .milliseconds(number + 11) }
        #expect((200...350).contains(late.count) && late.allSatisfy { bad.contains($0.0) }, "\(late.count)")
    }

    @Test("by default all kinds of faults but those of disks happen, every 50 ms to 2 s, for 10 ms to 3 s")
    func defaultMix() throws {
        let mix = World.FaultMix()
        #expect(
            Set(mix.kinds)
                == Set(World.Fault.Kind.allCases).subtracting([.slowDisk, .fullDisk, .failingDisk]))
        #expect(mix.interval == .milliseconds(50)...(.seconds(2)))
        #expect(mix.duration == .milliseconds(10)...(.seconds(3)))
        let world = World(seed: 1)
        for name in ["a", "b", "c"] { try world.addHost(name) }
        world.injectFaults(until: .seconds(3000))
        let faults = world.faults
        #expect(Set(faults.map(\.kind)) == Set(mix.kinds))
        let starts = [.zero] + faults.map(\.start)
        let intervals = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(intervals.allSatisfy { mix.interval.contains($0) })
        #expect(intervals.min()! < .milliseconds(60) && intervals.max()! > .milliseconds(1990))
        #expect(faults.allSatisfy { $0.start < .seconds(3000) })
        let lasting = faults.dropLast(5).filter { $0.kind != .breakConnections }.map(\.duration)
        #expect(lasting.allSatisfy { mix.duration.contains($0) })
        #expect(lasting.min()! < .milliseconds(25) && lasting.max()! > .milliseconds(2985))
        let pairs = faults.filter { $0.hosts.count == 2 }.map(\.hosts)
        #expect(Set(pairs).count == 6 && pairs.allSatisfy { $0[0] != $0[1] })
    }

    @Test("times of faults are whole milliseconds, and all of a range happen")
    func times() throws {
        let world = World(seed: 1)
        try world.addHost("a")
        var mix = World.FaultMix()
        mix.kinds = [.pause, .partition]
        mix.interval = .milliseconds(0)...(.milliseconds(1))
        mix.duration = .milliseconds(3)...(.milliseconds(5))
        world.injectFaults(mix, until: .milliseconds(100))
        // A single host has no link.
        #expect(world.faults.allSatisfy { $0.kind == .pause && $0.hosts == ["a"] })
        #expect(
            Set(world.faults.filter { $0.start <= .milliseconds(95) }.map(\.duration))
                == [.milliseconds(3), .milliseconds(4), .milliseconds(5)])
        #expect(Set(world.faults.map(\.start)).isSubset(of: (0..<100).map { .milliseconds($0) }))
    }

    @Test(
        "where no kind of fault can happen there is none",
        arguments: [[], [.partition, .slow]] as [[World.Fault.Kind]])
    func impossible(kinds: [World.Fault.Kind]) throws {
        let world = World(seed: 1)
        try world.addHost("a")
        var mix = World.FaultMix()
        mix.kinds = kinds
        world.injectFaults(mix, until: .seconds(100))
        #expect(world.faults.isEmpty)
    }
}
