import Futures
import FuturesTesting
import Testing
import UVFutures

/// When the changes of a watch come, and what is left of one that has ended.
struct WatchDeliveryTests {
    private let loop = EventLoop.virtual()

    init() { loop.simulatedDisk.makeDirectory("/srv") }

    private func watch(debounce: Duration = .zero) throws -> FileWatch {
        try loop.run(until: FileWatch.watch(tree: "/srv", debounce: debounce, on: loop))
    }

    @Test("unless told otherwise, a watch waits for a quiet time of 50 ms")
    func defaultDebounce() throws {
        let watch = try loop.run(until: FileWatch.watch(file: "/srv/x", on: loop))
        var told: [String] = []
        watch.onChange { told.append("\($0)") }
        loop.simulatedDisk.write("/srv/x", "one")
        loop.advance(by: .milliseconds(49))
        #expect(told == [])
        loop.advance(by: .milliseconds(1))
        #expect(told == ["created x"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a closure gets the changes that came before it, soon, and not within the call that sets it")
    func earlierChanges() throws {
        let watch = try watch()
        loop.simulatedDisk.makeDirectory("/srv/a")
        loop.advance(by: .seconds(1))
        var told: [String] = []
        watch.onChange { told.append("\($0)") }
        #expect(told == [])
        loop.advance(by: .milliseconds(1))
        #expect(told == ["created a"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a watch that is released is closed, which its observer is told, and leaves no timer")
    func released() throws {
        var events: [String] = []
        loop.observe {
            if case .closed(let what, let failure) = $0 { events.append("\(what) \(failure == nil)") }
        }
        var watch: FileWatch? = try watch(debounce: .milliseconds(50))
        let closed = watch!.closed
        loop.simulatedDisk.write("/srv/x", "one")
        loop.advance(by: .milliseconds(10))
        #expect(loop.statistics.timers == 1 && loop.statistics.fileWatches == 1 && !closed.isCompleted)
        watch = nil
        #expect(loop.statistics.timers == 0 && loop.statistics.fileWatches == 0)
        #expect(closed.isSuccess && events == ["FileWatch (/srv) true"])
        try loop.run()
        #expect(loop.statistics.handles == 0)
        loop.shutdown()
    }

    @Test("changes that nobody has taken are lost when the watch is closed", arguments: [0, 50])
    func lostChanges(debounce: Int) throws {
        let watch = try watch(debounce: .milliseconds(debounce))
        loop.simulatedDisk.write("/srv/x", "one")
        loop.advance(by: .milliseconds(60))
        loop.simulatedDisk.write("/srv/y", "one")
        loop.advance(by: .milliseconds(10))
        try loop.run(until: watch.close())
        #expect(loop.statistics.timers == 0)
        #expect(loop.outcome(of: watch.next()).isCancellation)
        #expect(try loop.run(until: watch.changes.makeAsyncIterator().pull()) == nil)
        loop.shutdown()
    }

    @Test("a directory that is made again is another one, and a file that is written again was modified")
    func madeAgain() throws {
        loop.simulatedDisk.makeDirectory("/srv/d")
        loop.simulatedDisk.write("/srv/f", "one")
        let watch = try loop.run(until: FileWatch.watch(directory: "/srv", on: loop))
        for name in ["d", "f"] { loop.simulatedDisk.remove("/srv/\(name)") }
        loop.simulatedDisk.makeDirectory("/srv/d")
        loop.simulatedDisk.write("/srv/f", "two")
        #expect(try loop.changes(of: watch) == ["removed d", "created d", "modified f"])
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a sequence begins with the changes that wait, and ends with the reason of the watch")
    func sequence() throws {
        let watch = try watch()
        #expect(watch.loop === loop.core)
        let changes = watch.changes.makeAsyncIterator()
        loop.simulatedDisk.makeDirectory("/srv/a")
        loop.advance(by: .seconds(1))
        #expect(try loop.run(until: changes.pull()) == FileChange(path: "a", kind: .created))
        loop.simulatedDisk.remove("/srv")
        loop.advance(by: .seconds(1))
        #expect(!watch.isOpen)
        #expect(throws: FileWatchError.removed(path: "/srv")) {
            while try loop.run(until: changes.pull()) != nil {}
        }
        loop.shutdown()
    }

    @Test("a closure that closes and releases the watch gets no other change of the same event")
    func closedAmongChanges() throws {
        for name in ["/srv/a", "/new"] { loop.simulatedDisk.makeDirectory(name) }
        var (told, watch): ([String], FileWatch?) = ([], try watch())
        watch!.onChange {
            told.append("\($0)")
            watch?.close()
            watch = nil
        }
        loop.simulatedDisk.rename("/new", to: "/srv/a")
        loop.advance(by: .seconds(1))
        #expect(told == ["removed a"] && watch == nil && loop.statistics.fileWatches == 0)
        loop.shutdown()
    }
}
