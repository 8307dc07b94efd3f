import Foundation
import FuturesTesting
import Testing

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
        let seeds: UInt64 = Self.isSoaking ? 10_000 : Self.isOptimized ? 300 : 10
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

    @Test("what a replica must not forget is read again as it was written")
    func saved() {
        let entry = Entry(term: 2, client: 7, number: 3, amount: -5)
        for saved in [Saved(), Saved(term: 4, vote: 2, log: [entry, entry])] {
            #expect(Saved(saved.description) == saved)
        }
        for text in ["", "1", "1 x", "1 2 3:4", "1 2 3:4:5:x"] { #expect(Saved(text) == nil) }
    }
}
