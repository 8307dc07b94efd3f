import Foundation
import FuturesTesting
import Testing

@testable import Chat

struct ChatWorldTests {
    /// `SOAK=1` takes the full size.
    private static let isSoaking = ProcessInfo.processInfo.environment["SOAK"] == "1"
    #if DEBUG
        private static let isOptimized = false
    #else
        private static let isOptimized = true
    #endif

    @Test("each acknowledged message reaches every member that stayed, once, and in order per sender")
    func agreement() throws {
        let seeds: UInt64 = Self.isSoaking ? 5000 : Self.isOptimized ? 150 : 16
        try World.explore(seeds: 0..<seeds) { try ChatWorld.run($0) }
    }

    @Test(
        "each mistake of a log is found",
        .enabled(if: isOptimized, "hundreds of worlds take minutes in debug"),
        arguments: ChatWorld.Mistake.allCases)
    func mistakes(_ mistake: ChatWorld.Mistake) throws {
        let failure = #expect(throws: ExplorationFailure.self) {
            try World.explore(seeds: 0..<500, repeating: false) {
                try ChatWorld.run($0, mistake: mistake)
            }
        }
        let report = try #require(failure).reports[0]
        print("\(mistake): seed \(report.seed), \(report.faults.count) faults: \(report.error)")
        #expect(report.faults.count <= 10)
    }
}
