import Futures
import FuturesTesting
import Testing
import UVFutures

struct SimulatedFileEventsTests {
    @Test("a paused program hears of changes when it goes on, and a crash ends its watches")
    func pauseAndCrash() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.makeDirectory("/etc")
        var told: [String] = []
        let watch = try world.run(until: FileWatch.watch(tree: "/etc", on: host.loop))
        watch.onChange { told.append("\($0)") }
        host.pause()
        host.disk.write("/etc/x", "x")
        try world.run(for: .seconds(1))
        #expect(told == [])
        host.resume()
        try world.run(for: .seconds(1))
        #expect(told == ["created x"])
        host.crash()
        #expect(!watch.isOpen)
        host.restart()
        host.disk.write("/etc/y", "y")
        try world.run(for: .seconds(1))
        #expect(told == ["created x"])
    }

    @Test("a virtual loop has a disk that the test can look at and change")
    func virtualLoop() throws {
        let loop = EventLoop.virtual()
        loop.simulatedDisk.write("/etc/app.conf", "one")
        let watch = try loop.run(until: FileWatch.watch(file: "/etc/app.conf", on: loop))
        let next = watch.next()
        loop.simulatedDisk.write("/etc/app.conf", "two")
        #expect(try loop.run(until: next).kind == .modified)
        try loop.run(until: watch.close())
        loop.shutdown()
    }

    @Test("a host without descriptors refuses a watch")
    func noDescriptors() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.maxDescriptors = 0
        let watch = FileWatch.watch(tree: "/", on: host.loop)
        #expect(
            throws: FileWatchError.refused(path: "/", operation: "inotify_init1", code: .tooManyOpenFiles)
        ) { try world.run(until: watch) }
    }
}
