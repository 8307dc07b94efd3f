import Foundation
import FuturesTesting
import Testing

@testable import Replica

struct ReplicaTests {
    /// `SOAK=1` takes the full size.
    private static let isSoaking = ProcessInfo.processInfo.environment["SOAK"] == "1"

    @Test("three replicas lose nothing, do nothing twice, and agree")
    func agreement() throws {
        try World.explore(seeds: 0..<(Self.isSoaking ? 10_000 : 100)) { try ReplicaWorld.run($0) }
    }

    @Test("each mistake is found, and with few faults", arguments: Mistake.allCases)
    func mistakes(_ mistake: Mistake) throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<2000, repeating: false) {
                try ReplicaWorld.run($0, mistake: mistake)
            }
        }
        let report = try #require(failure).reports[0]
        print(
            "\(mistake): seed \(report.seed), \(report.faults.count) of \(report.faultsBefore): \(report.error)"
        )
        #expect(report.faults.count <= 10)
    }
}
