import Futures
import Testing
import UVFutures

struct FileWatchLimitsTests {
    @Test("limits that allow nothing are refused with a sentence")
    func refused() throws {
        try withLoop { loop in
            func refusal(_ change: (inout FileWatchLimits) -> Void) -> String {
                var limits = FileWatchLimits()
                change(&limits)
                return "\(loop.failure(of: FileWatch.watch(tree: "/tmp", limits: limits, on: loop))!)"
            }
            #expect(refusal { $0.maxChanges = 0 } == "a maxChanges of 0 tells of no change; give 1 or more")
            #expect(
                refusal { $0.maxDirectories = -1 } == "a maxDirectories of -1 allows no watch; give 1 or more"
            )
        }
    }
}
