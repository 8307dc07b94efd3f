import Futures
import FuturesTesting
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

    @Test("limits of one allow one directory, and one change that waits")
    func least() throws {
        let loop = EventLoop.virtual()
        loop.simulatedDisk.makeDirectory("/tree")
        var limits = FileWatchLimits()
        (limits.maxDirectories, limits.maxChanges) = (1, 1)
        let watch = try loop.run(
            until: FileWatch.watch(tree: "/tree", debounce: .zero, limits: limits, on: loop))
        loop.simulatedDisk.makeDirectory("/tree/\u{1}")
        #expect(
            loop.failure(of: watch.closed) as? FileWatchError == .tooManyDirectories(path: "/tree", limit: 1))
        #expect(try loop.run(until: watch.next()) == FileChange(path: "\u{1}", kind: .created))
        loop.shutdown()
    }
}
