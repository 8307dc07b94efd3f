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
}
