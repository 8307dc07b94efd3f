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
            #expect(refusal { $0.maxChanges = 0 } == "maxChanges must be at least 1, not 0")
            #expect(
                refusal { $0.maxDirectories = -1 } == "maxDirectories must be at least 1, not -1"
            )
        }
    }
}
