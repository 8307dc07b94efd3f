import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct WatchEngineTests {
    /// An engine that notes what it handles.
    private final class Notes: WatchEngine {
        var notes: [String] = []

        override func handleChange(_ event: FileEvent) { notes.append("\(event.name!)") }

        override func handleRename(_ source: FileEvent, _ target: FileEvent) -> Bool {
            notes.append("\(source.name!) → \(target.name!)")
            return true
        }

        override func lookAtEverything() { notes.append("look") }
    }

    private func event(_ changes: FileEventMask, _ name: String, cookie: UInt32 = 0) -> FileEvent {
        FileEvent(1, changes, cookie: cookie, name: RelativePath(bytes: Array(name.utf8)))
    }

    private func withEngine(_ body: (Notes, EventLoop) throws -> Void) throws {
        let loop = EventLoop.virtual()
        let hub = try FileEventHub.shared(on: loop.core)
        let engine = Notes("/", hub, ChangeBuffer(.zero, limit: 10, on: loop.core))
        try body(engine, loop)
        engine.close()
        try loop.run()
        #expect(loop.statistics.handles == 0)
        loop.shutdown()
    }

    @Test("the two events of a rename are one, also with others between, or in a later read")
    func renames() throws {
        try withEngine { (engine, loop) throws in
            engine.take(event(.movedFrom, "a", cookie: 1))
            engine.take(event(.modified, "x"))
            engine.take(event(.movedTo, "b", cookie: 1))
            engine.process()
            #expect(engine.notes == ["a → b", "x"])
            engine.take(event(.movedFrom, "c", cookie: 2))
            engine.process()
            engine.take(event(.movedTo, "d", cookie: 2))
            engine.process()
            #expect(engine.notes == ["a → b", "x", "c → d"])
        }
    }

    @Test("a rename of which only one event comes is handled after a moment, and all of them at once")
    func oneSide() throws {
        try withEngine { (engine, loop) throws in
            for number in 1...100 { engine.take(event(.movedFrom, "\(number)", cookie: UInt32(number))) }
            engine.take(event(.movedTo, "to", cookie: 200))
            engine.process()
            #expect(engine.notes == [])
            loop.advance(by: .milliseconds(2))
            #expect(engine.notes == (1...100).map { "\($0)" } + ["to"])
        }
    }

    @Test("for the rest of renames, one moment is waited at a time, and again for those that come later")
    func moments() throws {
        try withEngine { (engine, loop) throws in
            engine.take(event(.movedFrom, "a", cookie: 1))
            engine.process()
            engine.take(event(.modified, "x"))
            engine.process()
            #expect(engine.notes == [] && loop.statistics.timers == 1)
            loop.advance(by: .milliseconds(2))
            #expect(engine.notes == ["a", "x"] && loop.statistics.timers == 0)
            engine.take(event(.movedFrom, "b", cookie: 2))
            engine.process()
            loop.advance(by: .milliseconds(1))
            engine.take(event(.movedTo, "c", cookie: 2))
            engine.process()
            engine.take(event(.movedFrom, "d", cookie: 3))
            engine.process()
            loop.advance(by: .milliseconds(1))
            #expect(engine.notes == ["a", "x", "b → c"])
            loop.advance(by: .milliseconds(1))
            #expect(engine.notes == ["a", "x", "b → c", "d"])
        }
    }

    @Test("an overflow drops what waits, and everything is looked at", arguments: [false, true])
    func overflow(byCount: Bool) throws {
        try withEngine { (engine, loop) throws in
            if byCount {
                for _ in 0...65_536 { engine.take(event(.modified, "x")) }
            } else {
                engine.take(event(.modified, "x"))
                engine.take(FileEvent(-1, .overflow))
            }
            engine.process()
            #expect(engine.notes == ["look"])
        }
    }

    @Test("what a scan has found, and an event tells as well, is one change")
    func foundAndTold() throws {
        let loop = EventLoop.virtual()
        loop.simulatedDisk.makeDirectory("/tree")
        loop.simulatedDisk.write("/tree/found", "")
        let changes = ChangeBuffer(.zero, limit: 10, on: loop.core)
        let hub = try FileEventHub.shared(on: loop.core)
        let tree = TreeWatch("/tree", isRecursive: true, limit: 10, hub, changes)
        var isStarted = false
        tree.start { isStarted = true }
        try loop.runUntil { isStarted }
        // One of these numbers is that of the watch.
        for watch in CInt(0)..<10 {
            for name in ["found", "new"] {
                tree.take(FileEvent(watch, .created, name: RelativePath(bytes: Array(name.utf8))))
            }
        }
        tree.process()
        #expect(changes.takeFirst().map { "\($0)" } == "created new")
        #expect(changes.takeFirst() == nil)
        tree.close()
        try loop.run()
        loop.shutdown()
    }

    @Test("a path that leads to the same file again is no change of it, also after events were lost")
    func sameFile() throws {
        let loop = EventLoop.virtual()
        let disk = loop.simulatedDisk
        disk.write("/p/a/f", "one")
        let changes = ChangeBuffer(.zero, limit: 10, on: loop.core)
        let file = PathWatch("/p/a/f", try FileEventHub.shared(on: loop.core), changes)
        func told() -> [String] {
            loop.advance(by: .milliseconds(10))
            var told: [String] = []
            while let change = changes.takeFirst() { told.append("\(change)") }
            return told
        }
        file.start {}
        #expect(told() == [])
        for isLost in [false, true] {
            if isLost { file.take(FileEvent(-1, .overflow)) }
            file.process()
            #expect(told() == (isLost ? ["look again"] : []))
            disk.rename("/p/a", to: "/p/b")
            disk.rename("/p/b", to: "/p/a")
            #expect(told() == [])
        }
        file.close()
        try loop.run()
        loop.shutdown()
    }
}
