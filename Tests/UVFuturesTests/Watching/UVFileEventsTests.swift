import Futures
import Testing

@testable import UVFutures

struct UVFileEventsTests {
    @Test("events have the names and the numbers of what has changed, and a watch is one for each directory")
    func events() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let source = try loop.system.makeFileEvents()
            var calls = 0
            source.onEvents = { calls += 1 }
            let handle = try SystemFiles().openDirectory(at: directory.path)
            let watch = try source.watcher.watch(handle)
            #expect(try source.watcher.watch(SystemFiles().openDirectory(at: directory.path)) == watch)
            #expect(source.takeEvents().isEmpty)
            directory.write("x")
            directory.rename("x", "y")
            directory.makeDirectory("z")
            source.keepAlive(true)
            try loop.runUntil { calls > 0 }
            let events = source.takeEvents()
            #expect(events.allSatisfy { $0.watch == watch })
            #expect(events.map { $0.name?.description } == ["x", "x", "x", "y", "z"])
            #expect(
                events.map(\.changes.rawValue)
                    == [
                        FileEventMask.created, .modified, .movedFrom, .movedTo, [.created, .isDirectory],
                    ].map(\.rawValue))
            #expect(events[2].cookie == events[3].cookie && events[2].cookie != 0)
            source.removeWatch(watch)
            #expect(source.takeEvents().map(\.changes.rawValue) == [FileEventMask.ignored.rawValue])
            source.close()
            try loop.run()
        }
    }
}
