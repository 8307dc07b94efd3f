import Futures
import FuturesTesting
import Testing
import UVFutures

/// A watch of a tree goes on or ends by where its path leads.
struct TreePathTests {
    private let loop = EventLoop.virtual()
    private var disk: SimulatedDisk { loop.simulatedDisk }

    private func watch() throws -> FileWatch {
        disk.makeDirectory("/p/a/tree/d")
        disk.makeDirectory("/q/a/tree")
        return try loop.run(until: FileWatch.watch(tree: "/p/a/tree", debounce: .zero, on: loop))
    }

    @Test("a tree to which its path leads again goes on being watched", arguments: ["/p", "/p/a"])
    func sameAgain(renamed: String) throws {
        let watch = try watch()
        for _ in 0..<2 {
            disk.rename(renamed, to: "/aside")
            disk.rename("/aside", to: renamed)
            #expect(try loop.changes(of: watch) == [])
        }
        disk.makeDirectory("/p/a/tree/d/e")
        #expect(try loop.changes(of: watch) == ["created d/e"])
        #expect(watch.directoryCount == 3)
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test(
        "another tree at the path ends the watch as moved, and none ends it with the place",
        arguments: ["/p", "/p/a"])
    func elsewhere(renamed: String) throws {
        let watch = try watch()
        disk.rename(renamed, to: "/aside")
        disk.rename(renamed == "/p" ? "/q" : "/q/a", to: renamed)
        #expect(loop.failure(of: watch.closed) as? FileWatchError == .moved(path: "/p/a/tree"))
        let other = try loop.run(until: FileWatch.watch(tree: "/p/a/tree", debounce: .zero, on: loop))
        disk.rename(renamed, to: "/away")
        #expect(loop.failure(of: other.closed) as? FileWatchError == .moved(path: renamed))
        loop.shutdown()
    }
}
