import Foundation
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// Each number is checked where it is given. Those that a call cannot refuse by an error are in `WorldMisuseTests`.
struct NumbersTests {
    @Test("numbers of records, of explorations and of faults of streams are in their range")
    func refused() throws {
        let world = World(seed: 1)
        defer { world.end() }
        expectRefused("port", outside: 0...65_535) {
            try world.names.add(.service(port: $0, target: "a"), to: "s")
        }
        expectRefused("priority", outside: 0...65_535) {
            try world.names.add(.service(priority: $0, port: 1, target: "a"), to: "s")
        }
        expectRefused("weight", outside: 0...65_535) {
            try world.names.add(.service(weight: $0, port: 1, target: "a"), to: "s")
        }
        expectRefused("preference", outside: 0...65_535) {
            try world.names.add(.mailExchange(preference: $0, "a"), to: "s")
        }
        expectRefused("the size of a text", outside: 0...255) { size in
            guard (0...256).contains(size) else { throw FutureError.invalidArgument("give less") }
            try world.names.add(.text([String(repeating: "x", count: size)]), to: "s")
        }
        expectRefused("maxFailures", outside: 1...) { count in
            try World.explore(seeds: 0..<1, maxFailures: count) { _ in }
        }
        func pair(_ change: (inout StreamFaults) -> Void) throws {
            var faults = StreamFaults()
            change(&faults)
            let loop = EventLoop.virtual()
            defer { loop.shutdown() }
            let (a, b) = try MemoryStream.pair(on: loop, faults: faults)
            a.write("x").ignoreFailure()
            loop.advance(by: .seconds(1))
            for stream in [a, b] { stream.close() }
        }
        for share in [\StreamFaults.delay, \.fragment, \.coalesce, \.reset, \.cut] {
            expectRefused("a share", outside: 0.0...1.0) { value in try pair { $0[keyPath: share] = value } }
        }
        for time in [\StreamFaults.maximumDelay, \.cutNotice] {
            expectRefused("a time", outside: Duration.zero...) { value in
                try pair {
                    ($0.delay, $0.cut) = (1, 1)
                    $0[keyPath: time] = value
                }
            }
        }
    }

    @Test("the largest numbers are taken, and lead to no overflow")
    func largest() throws {
        let end = Duration.seconds(Int64.max)
        for latency in [
            World.Latency.constant(end), .uniform(.zero...end), .uniform(.seconds(1)...end),
            .exponential(least: end, mean: end),
        ] {
            let world = World(seed: 1)
            defer { world.end() }
            world.latency = latency
            world.names.latency = end
            world.names.timeToLive = end
            let host = try world.addHost("a")
            try world.addHost("b", Programs.echo)
            world.link("a", "b").bandwidth = .max
            host.disk.latency = latency
            host.disk.capacity = .max
            host.workDuration = end
            host.maxDescriptors = .max
            for (offset, drift) in [(Duration.seconds(1 << 60), 1e6), (.seconds(-(1 << 60)), -1e6)] {
                (host.wallClockOffset, host.wallClockDrift) = (offset, drift)
                _ = host.loop.date
            }
            host.disk.write("/file", Data())
            TCPConnection.connect(host: "10.0.0.2", port: 7, timeout: end, on: host.loop).ignoreFailure()
            Directory.open("/", on: host.loop).ignoreFailure()
            RemoteContext.pool.execute(on: host.loop) {}.ignoreFailure()
            world.schedule(after: end) {}
            world.check(every: end) {}
            #expect(throws: FutureError.timedOut(after: .seconds(1))) {
                try world.run(until: { false }, within: .seconds(1))
            }
            try world.run(for: .seconds(3600))
        }
    }
}
