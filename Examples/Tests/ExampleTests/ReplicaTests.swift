import Foundation
import FuturesTesting
import Testing
import UVFutures

@testable import Replica

struct ReplicaTests {
    /// `SOAK=1` takes the full size.
    private static let isSoaking = ProcessInfo.processInfo.environment["SOAK"] == "1"
    #if DEBUG
        private static let isOptimized = false
    #else
        private static let isOptimized = true
    #endif

    @Test("three replicas lose nothing, do nothing twice, and agree")
    func agreement() throws {
        let seeds: UInt64 = Self.isSoaking ? 10_000 : Self.isOptimized ? 300 : 20
        try World.explore(seeds: 0..<seeds) { try ReplicaWorld.run($0) }
    }

    @Test(
        "each mistake is found, and is shown with at most ten faults",
        .enabled(if: isOptimized, "thousands of worlds take minutes in debug"), arguments: Mistake.allCases)
    func mistakes(_ mistake: Mistake) throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<2000, repeating: false) {
                try ReplicaWorld.run($0, mistake: mistake)
            }
        }
        let report = try #require(failure).reports[0]
        print(
            "\(mistake): seed \(report.seed), \(report.faults.count) of \(report.faultsBefore) faults: \(report.error)"
        )
        #expect(report.faults.count <= 10)
    }

    @Test(
        "a line that is no request is refused, and breaks nothing",
        arguments: [
            "", "give", "get it", "vote 1 1 1", "vote 1 1 -1 1", "append 1 1 -5 0 0",
            "append 1 1 0 0 0 1:2:3",
            "append 9223372036854775807 1 0 0 0", "add 1 1 9223372036854775807", "add 1 -1 5", "add 1 1",
        ])
    func refused(_ request: String) throws {
        let world = World(seed: 1)
        let host = try world.addHost("one") { host in
            let replica = Replica(0, of: [Member(host: "one", port: 7)], on: host.loop) { _ in }
            try replica.serve(host: "0.0.0.0", port: 7)
        }
        let client = try world.addHost("client")
        try world.run(for: .seconds(1))
        let connection = try world.run(
            until: TCPConnection.connect(host: "one", port: 7, on: client.loop))
        connection.write("4 \(request)\n5 add 1 1 5\n")
        #expect(try world.run(until: connection.readLine()) == Data("4 error not a request".utf8))
        #expect(try world.run(until: connection.readLine()) == Data("5 sum 5".utf8))
        connection.close()
        #expect(!host.isDown)
    }

    @Test("what a replica must not forget is read again as it was written")
    func saved() {
        let entry = Entry(term: 2, client: 7, number: 3, amount: -5)
        for saved in [Saved(), Saved(term: 4, vote: 2, log: [entry, entry])] {
            #expect(Saved(saved.description) == saved)
        }
        for text in ["", "1", "1 x", "1 2 3:4", "1 2 3:4:5:x"] { #expect(Saved(text) == nil) }
    }

    @Test("an address of IPv6 is given in brackets, and kept without them")
    func members() {
        #expect(Member(argument: "[::1]:7010") == Member(host: "::1", port: 7010))
        #expect(Member(argument: "host:7010") == Member(host: "host", port: 7010))
        for text in ["host", "host:", "host:x"] { #expect(Member(argument: text) == nil) }
    }
}
