import Testing

@testable import FuturesTesting

struct ChoicesTests {
    @Test("the numbers are those of SplitMix64")
    func splitMix() {
        var random = SplitMix(0)
        #expect(
            (0..<3).map { _ in random.next() } == [
                0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F,
            ])
    }

    @Test("fractions are below one, or above zero")
    func fractions() {
        var random = SplitMix(1)
        #expect((0..<1000).allSatisfy { _ in (0..<1).contains(random.fraction()) })
        #expect((0..<1000).map { _ in random.positiveFraction() }.allSatisfy { $0 > 0 && $0 <= 1 })
        #expect(Set((0..<100).map { _ in random.below(3) }) == [0, 1, 2])
    }

    @Test("each purpose of a world has numbers of its own")
    func purposes() throws {
        let world = World(seed: 7)
        defer { world.end() }
        let choices = try #require(world.simulation.choices)
        var states = [choices.network.state, choices.latency.state, SplitMix(7, for: 4).state]
        states.append(try #require(world.simulation.ties).state)
        for name in ["a", "b"] {
            let host = try world.addHost(name)
            states.append(try #require(host.random).state)
            states.append(host.disk.store.with { $0.random.state })
        }
        #expect(Set(states).count == 8)
    }
}
