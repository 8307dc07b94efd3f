import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Bad use of worlds ends with a sentence.
struct WorldMisuseTests {
    enum Misuse: String, CaseIterable, Codable, CustomTestStringConvertible {
        case unknownHost, unknownLink, linkToItself, foreignFuture, ownRun, nestedRun, downLoop, downMakeLoop
        case advancing, adopting, releasing, releasingListener, backwards, unknownFault
        case loss, duplication, reordering, mtu
        case bandwidth, latency, hostLatency, schedule, check, within, negativeFault, interval, endlessFaults,
            until
        case maxDescriptors, workDuration, drift, offset, earlyOffset, capacity, nameLatency, timeToLive,
            callbacks

        var testDescription: String { rawValue }

        var sentence: String {
            switch self {
            case .unknownHost: "has none of that name. Its hosts are: a, b."
            case .unknownLink: "A world was asked for its host \"c\""
            case .linkToItself: "the link of host a to itself, but has none."
            case .foreignFuture: "Pass a future of one of the world's own hosts."
            case .ownRun: "The loop of host a was run by itself, but its world runs it."
            case .nestedRun: "A world was run by one of its own programs."
            case .downLoop: "The host a was asked for its loop while it is down. Restart it first."
            case .downMakeLoop: "The host a was asked for another loop while it is down. Restart it first."
            case .advancing:
                "advance(by:) was called on the loop of a host in a world; call run(for:) of the world."
            case .adopting: "A virtual event loop has no descriptors."
            case .releasing: "release() was called on a connection of a simulated network"
            case .releasingListener:
                "A listener of a simulated network was asked for its descriptor, but has none."
            case .backwards: "time only moves forward."
            case .unknownFault: "A world was asked for its host \"x\""
            case .loss: "The datagramLoss of a – b was set to 1.5; give 0 to 1."
            case .duplication: "The datagramDuplication of a – b was set to -0.1; give 0 to 1."
            case .reordering: "The datagramReordering of a – b was set to nan; give 0 to 1."
            case .mtu: "The mtu of a – b was set to 10; give 68 or more, as IPv4 needs."
            case .bandwidth: "The bandwidth of a – b was set to 0; give 1 or more, or nil for no limit."
            case .latency: "A latency of -1.0 seconds is negative; give zero or more."
            case .hostLatency: "A latency of -1e-09 seconds is negative; give zero or more."
            case .schedule:
                "schedule(after:) of a world was given -1.0 seconds; time only moves forward."
            case .check: "check(every:) of a world was given 0.0 seconds; give more than zero."
            case .within: "run(until:within:) of a world was given -1.0 seconds; time only moves forward."
            case .negativeFault:
                "The start and the duration of a fault must be zero or more, not 1.0 seconds and -1.0 seconds."
            case .interval:
                "The upper bound of the interval of faults must be at least a millisecond, not 0.0 seconds."
            case .endlessFaults: "would be more than a million faults; give an earlier end"
            case .until: "injectFaults(until:) of a world was given -1.0 seconds; time only moves forward."
            case .maxDescriptors: "The maxDescriptors of host a was set to -1; give 0 or more."
            case .workDuration: "The workDuration of host a was set to -1.0 seconds; give zero or more."
            case .drift: "The wallClockDrift of host a was set to nan; give -1000000 to 1000000."
            case .offset:
                "The wallClockOffset of host a was set to 9.223372036854776e+18 seconds; give at most"
            case .earlyOffset: "The wallClockOffset of host a was set to -1.15292150460684"
            case .capacity: "The capacity of a disk was set to -1; give 0 or more."
            case .nameLatency: "The latency of name servers was set to -1.0 seconds; give zero or more."
            case .timeToLive: "The timeToLive of names was set to -1.0 seconds; give zero or more."
            case .callbacks: "The limit of callbacks in an instant must be at least 1, not 0."
            }
        }

        func commit() throws {
            let world = World(seed: 1, faults: [.pause("x", at: .zero, lasting: .seconds(1))])
            let a = try world.addHost("a")
            try world.addHost("b", Programs.echo)
            switch self {
            case .unknownHost: _ = world.host("c")
            case .unknownLink: _ = world.link("a", "c")
            case .linkToItself: world.partition("a", "a")
            case .foreignFuture:
                let other = World(seed: 2)
                try world.run(until: other.addHost("a").loop.sleep(for: .seconds(1)))
            case .ownRun: try a.loop.run()
            case .nestedRun:
                a.loop.schedule(after: .zero) { try world.run(for: .seconds(1)) }
                try world.run(for: .seconds(1))
            case .downLoop:
                a.crash()
                _ = a.loop
            case .downMakeLoop:
                a.kill()
                _ = a.makeLoop()
            case .advancing: a.loop.advance(by: .seconds(1))
            case .adopting: _ = try TCPConnection(adopting: 0, on: a.loop)
            case .releasing:
                let connection = try world.run(until: TCPConnection.connect(host: "b", port: 7, on: a.loop))
                _ = try connection.release()
            case .releasingListener: _ = try TCPListener(host: "0.0.0.0", port: 0, on: a.loop).release()
            case .backwards: try world.run(for: .seconds(-1))
            case .unknownFault: world.injectFaults(until: .seconds(1))
            case .loss: world.link("a", "b").datagramLoss = 1.5
            case .duplication: world.link("a", "b").datagramDuplication = -0.1
            case .reordering: world.link("a", "b").datagramReordering = .nan
            case .mtu: world.link("a", "b").mtu = 10
            case .bandwidth: world.link("a", "b").bandwidth = 0
            case .latency: world.latency = .uniform(.seconds(-1)...(.zero))
            case .hostLatency: a.disk.latency = .exponential(least: .zero, mean: .nanoseconds(-1))
            case .schedule: world.schedule(after: .seconds(-1)) {}
            case .check: world.check(every: .zero) {}
            case .within: try world.run(until: { true }, within: .seconds(-1))
            case .negativeFault: _ = World.Fault.slow("a", "b", at: .seconds(1), lasting: .seconds(-1))
            case .interval:
                var mix = World.FaultMix()
                mix.interval = .zero...(.zero)
                World(seed: 1).injectFaults(mix, until: .seconds(1))
            case .endlessFaults:
                let world = World(seed: 1)
                try world.addHost("a")
                world.injectFaults(until: .seconds(Int64.max))
            case .until: world.injectFaults(until: .seconds(-1))
            case .maxDescriptors: a.maxDescriptors = -1
            case .workDuration: a.workDuration = .seconds(-1)
            case .drift: a.wallClockDrift = .nan
            case .offset: a.wallClockOffset = .seconds(Int64.max)
            case .earlyOffset: a.wallClockOffset = .seconds(-(1 << 60) - 1)
            case .capacity: a.disk.capacity = -1
            case .nameLatency: world.names.latency = .seconds(-1)
            case .timeToLive: world.names.timeToLive = .seconds(-1)
            case .callbacks: _ = World(seed: 1, maxCallbacksPerInstant: 0)
            }
        }
    }

    @Test("what cannot be traps, and the sentence says what to do", arguments: Misuse.allCases.sampled)
    func traps(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [misuse] in
            try misuse.commit()
        }
        expect(misuse.sentence, in: result)
    }

    @Test("a name or an address that another host has, or that is none, is refused")
    func refused() throws {
        let world = World(seed: 1)
        try world.addHost("a", addresses: ["192.0.2.1"])
        for (name, addresses, text) in [
            ("a", ["192.0.2.2"], "the world has a host a already"),
            ("b", ["192.0.2.1"], "the host a has the address 192.0.2.1 already"),
            ("b", ["x"], "host \"x\" is not a numeric IPv4 or IPv6 address"),
            ("a b", ["192.0.2.3"], "\"a b\" is not a name for a host; give one like server-1"),
        ] {
            let error = #expect(throws: FutureError.self) { try world.addHost(name, addresses: addresses) }
            #expect("\(error!)".contains(text))
        }
        #expect(world.hosts.count == 1)
    }
}
