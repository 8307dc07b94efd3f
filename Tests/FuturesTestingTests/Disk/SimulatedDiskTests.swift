import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing
import UVFutures

struct SimulatedDiskTests {
    @Test("files work on a virtual loop as on a real one")
    func virtualLoop() throws {
        let loop = EventLoop.virtual()
        let directory = try loop.run(until: Directory.open("/", on: loop))
        try loop.run(until: directory.makeDirectory("etc"))
        try loop.run(until: directory.replace("etc/app.conf", with: Data("one".utf8)))
        try loop.run(until: directory.append(Data("two".utf8), to: "etc/app.conf"))
        #expect(try loop.run(until: directory.contents(of: "etc/app.conf")) == Data("onetwo".utf8))
        try loop.run(until: directory.rename("etc/app.conf", to: "etc/old"))
        let file = try loop.run(until: directory.open("etc/old", .readWrite))
        try loop.run(until: file.truncate(to: 5))
        try loop.run(until: file.write(Data("x".utf8), at: 7))
        #expect(try loop.run(until: file.readAll()) == Data("onetw\0\0x".utf8))
        #expect(try loop.run(until: file.information()).size == 8)
        try loop.run(until: directory.makeSymbolicLink("link", to: "etc/old"))
        #expect(try loop.run(until: directory.information(of: "link")).size == 8)
        func code<Value>(_ future: Future<Value>) -> SystemError.Code? {
            do { _ = try loop.run(until: future) } catch { return (error as? FileError)?.code }
            return nil
        }
        #expect(code(directory.open("nothing")) == .notFound)
        #expect(code(directory.open("etc")) == .isDirectory)
        #expect(code(directory.open("etc/../../x")) == .crossesDirectory)
        #expect(code(directory.makeDirectory("etc")) == .alreadyExists)
        #expect(code(directory.remove("etc")) != nil)
        let target = String(repeating: "x", count: 4096)
        #expect(code(directory.makeSymbolicLink("long", to: target))?.rawValue == -ENAMETOOLONG)
        #expect(code(directory.makeSymbolicLink("long", to: String(target.dropLast()))) == nil)
        try loop.run(until: directory.removeTree("etc"))
        #expect(code(directory.open("link")) == .notFound)
        #expect(try loop.run(until: file.read(atMost: 3, at: 0)) == Data("one".utf8))
        loop.shutdown()
    }

    @Test("what a test writes is there for the program, and what the program writes for the test")
    func testsLook() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/etc/app.conf", "one")
        let directory = try world.run(until: Directory.open("/etc", on: host.loop))
        #expect(try world.run(until: directory.contents(of: "app.conf")) == Data("one".utf8))
        try world.run(until: directory.append(Data("two".utf8), to: "app.conf"))
        #expect(host.disk.contents(of: "/etc/app.conf") == Data("onetwo".utf8))
        try world.run(until: directory.makeSymbolicLink("link", to: "app.conf"))
        #expect(host.disk.contents(of: "/etc/link") == Data("onetwo".utf8))
        host.disk.remove("/etc/link")
        host.disk.rename("/etc/app.conf", to: "/etc/old/app.conf")
        #expect(host.disk.names(in: "/etc") == ["old"])
        #expect(host.disk.contents(of: "/etc/old") == nil)
        host.disk.remove("/etc/old")
        #expect(host.disk.names(in: "/etc") == [])
        host.disk.makeDirectory("/var/lib")
        #expect(host.disk.names(in: "/var") == ["lib"])
    }

    @Test("a program opens as many files and directories as its host has descriptors, and not one more")
    func descriptors() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/etc/app.conf", "one")
        host.maxDescriptors = 2
        let directory = try world.run(until: Directory.open("/etc", on: host.loop))
        let file = try world.run(until: directory.open("app.conf"))
        let error = #expect(throws: FileError.self) {
            _ = try world.run(until: directory.open("app.conf"))
        }
        #expect(error?.code == .tooManyOpenFiles)
        try world.run(until: file.close())
        _ = try world.run(until: directory.open("app.conf"))
    }

    @Test("a disk is full, fails and is slow, as the test says")
    func faults() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        func code<Value>(_ future: Future<Value>) throws -> SystemError.Code? {
            do { _ = try world.run(until: future) } catch let error as FileError { return error.code }
            return nil
        }
        host.disk.capacity = 100
        #expect(try code(directory.replace("x", with: Data(count: 101))) == .noSpace)
        #expect(host.disk.names(in: "/") == ["run", "tmp"])
        #expect(try code(directory.replace("x", with: Data(count: 40))) == nil)
        #expect(try code(directory.append(Data(count: 61), to: "x")) == .noSpace)
        func failing() -> [Bool] { [host.disk.failsReads, host.disk.failsWrites, host.disk.failsSyncs] }
        #expect(failing() == [false, false, false])
        host.disk.failsSyncs = true
        #expect(failing() == [false, false, true])
        #expect(try code(directory.replace("x", with: Data(count: 1))) == .inputOutput)
        #expect(host.disk.contents(of: "/x")?.count == 40)
        #expect(host.disk.names(in: "/") == ["run", "tmp", "x"])
        host.disk.failsSyncs = false
        host.disk.failsReads = true
        #expect(failing() == [true, false, false])
        #expect(try code(directory.contents(of: "x")) == .inputOutput)
        #expect(try code(Directory.open("/", on: host.loop)) == .inputOutput)
        host.disk.failsReads = false
        host.disk.failsWrites = true
        #expect(failing() == [false, true, false])
        #expect(try code(directory.append(Data(count: 1), to: "x")) == .inputOutput)
        host.disk.failsWrites = false
        host.disk.latency = .constant(.seconds(3))
        let start = world.now
        #expect(try code(directory.contents(of: "x")) == nil)
        #expect(world.now - start == .seconds(3))
    }

    @Test("a slow disk of a world delays no name, no timer, no connection and no job of the pool")
    func slowDisk() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let (host, other) = (try world.addHost("a"), try world.addHost("b"))
        let server = try TCPServer.listen(host: "0.0.0.0", port: 7, on: other.loop) { connection in
            connection.forEachChunk { connection.write($0) }
        }
        host.disk.write("/x", "text")
        host.disk.latency = .constant(.seconds(60))
        let loop = host.loop
        // More operations than run at a time.
        let contents = (0..<8).map { _ in Directory.open("/", on: loop).flatMap { $0.contents(of: "x") } }
        let start = world.now
        let echo = TCPConnection.connect(host: "b", port: 7, on: loop).flatMap { connection in
            connection.write("hello")
            return connection.read().always { connection.close() }
        }
        #expect(try world.run(until: echo) == Data("hello".utf8))
        try world.run(until: loop.sleep(for: .milliseconds(10)))
        #expect(try world.run(until: RemoteContext.pool.execute(on: loop) { 7 }) == 7)
        #expect(world.now - start < .seconds(1))
        #expect(contents.allSatisfy { !$0.isCompleted })
        for content in contents { #expect(try world.run(until: content) == Data("text".utf8)) }
        #expect(world.now - start >= .seconds(120))
        server.close()
    }

    @Test("a killed program leaves what it has written, and a loss of power what was synchronised")
    func losses() throws {
        let world = World(seed: 3)
        defer { world.end() }
        let host = try world.addHost("a")
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        try world.run(until: directory.append(Data(count: 5120), to: "x", durably: true))
        try world.run(until: directory.append(Data(repeating: 1, count: 51_200), to: "x"))
        host.kill()
        host.restart()
        #expect(host.disk.contents(of: "/x")?.count == 56_320)
        let again = try world.run(until: Directory.open("/", on: host.loop))
        try world.run(until: again.append(Data(repeating: 2, count: 51_200), to: "x"))
        host.crash()
        host.restart()
        let left = try #require(host.disk.contents(of: "/x"))
        #expect(left.prefix(5120) == Data(count: 5120))
        // Some sectors are there, and others are not.
        #expect(Set(left).isSuperset(of: [0, 2]))
        let writes = [1, 2].map { Data(repeating: $0, count: 51_200) }
        #expect(left != Data(count: 5120) + writes[0] + writes[1])
    }

    @Test("what is in directories outlives a loss of power, and has as many names as before")
    func directories() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/file", "text")
        host.disk.write("/var/lib/app/state", "text")
        host.crash()
        host.restart()
        #expect(host.disk.names(in: "/var/lib") == ["app"])
        #expect(host.disk.contents(of: "/var/lib/app/state") == Data("text".utf8))
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        for path in ["file", "var/lib/app/state"] {
            #expect(try world.run(until: directory.information(of: path)).linkCount == 1)
        }
    }

    /// Replaces a file and appends to another one, again and again, while the power is lost at any moment.
    private func crash(seed: UInt64, durably: Bool) throws -> Bool {
        let world = World(seed: seed)
        defer { world.end() }
        var (replaced, appended) = (0, 0)
        let host = try world.addHost("a") { host in
            let loop = host.loop
            _ = Directory.open("/", on: loop).flatMap { directory -> Future<Void> in
                loop.forEach(1...1000) { number in
                    directory.replace(
                        "state", with: Data(repeating: UInt8(number % 251), count: 1500), durably: durably
                    )
                    .flatMap {
                        replaced = max(replaced, number)
                        return directory.append(Data("\(number)\n".utf8), to: "log", durably: durably)
                    }
                    .map { appended = number }
                }
            }
            .recover { _ in }
        }
        var random = seed
        random = random &* 0x9E37_79B9_7F4A_7C15
        try world.run(for: .microseconds(500 + Int64(random >> 52)))
        host.crash()
        let state = host.disk.contents(of: "/state") ?? Data()
        let log = String(decoding: host.disk.contents(of: "/log") ?? Data(), as: UTF8.self)
        guard replaced > 0 else { return true }
        let isWhole = state.count == 1500 && Set(state).count == 1
        let isNew = isWhole && [replaced, replaced + 1].contains(Int(state[state.startIndex]))
        let lines = log.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return isNew && lines.starts(with: (0..<appended).map { "\($0 + 1)" })
    }

    @Test("durable replacements and appends lose nothing when the power is lost at any moment")
    func durable() throws {
        for seed in 0..<UInt64(isSoaking ? 10_000 : 300) {
            let isWhole = try crash(seed: seed, durably: true)
            #expect(isWhole, "seed \(seed)")
        }
    }

    @Test("replacements and appends that are not durable lose something, sooner or later")
    func notDurable() throws {
        var isWhole = true
        for seed in 0..<UInt64(100) where isWhole { isWhole = try crash(seed: seed, durably: false) }
        #expect(!isWhole)
    }

    @Test("an operation that a loss of power cuts off has done a part of its steps")
    func cutOff() throws {
        var left: Set<String> = []
        for seed in 0..<UInt64(200) {
            let world = World(seed: seed)
            defer { world.end() }
            let host = try world.addHost("a")
            host.disk.write("/state", "old")
            let directory = try world.run(until: Directory.open("/", on: host.loop))
            let replaced = directory.replace("state", with: Data("new".utf8))
            replaced.ignoreFailure()
            host.crash()
            let state = String(decoding: host.disk.contents(of: "/state") ?? Data(), as: UTF8.self)
            left.insert(host.disk.names(in: "/").count > 3 ? "\(state), temporary" : state)
        }
        #expect(left.isSuperset(of: ["old", "new", "old, temporary"]))
    }

    @Test("one seed does the same to the disk each time, with all faults of disks")
    func deterministic() throws {
        func run() throws -> (UInt64, Data?) {
            let world = World(seed: 17)
            defer { world.end() }
            let host = try world.addHost("a") { host in
                let loop = host.loop
                Directory.open("/", on: loop).whenSuccess { directory in
                    loop.repeat(every: .milliseconds(10)) {
                        directory.append(Data(count: 2000), to: "x", durably: true).recover {
                            host.note("\($0)")
                        }
                    }
                    .future.ignoreFailure()
                }
            }
            var mix = World.FaultMix()
            mix.kinds = [.crash, .slowDisk, .fullDisk, .failingDisk]
            mix.interval = .milliseconds(10)...(.milliseconds(500))
            world.injectFaults(mix, until: .seconds(20))
            world.keepsTrace = true
            try world.run(for: .seconds(20))
            for code in ["ENOSPC", "EIO"] { #expect(world.trace.contains { $0.contains(code) }) }
            return (world.traceHash, host.disk.contents(of: "/x"))
        }
        let (first, second) = (try run(), try run())
        #expect(first == second)
        #expect(first.1?.isEmpty == false)
    }

    @Test(
        "a watch tells what changes on a simulated disk, by programs and by the test", arguments: [1, 2, 3])
    func watches(seed: UInt64) throws {
        let world = World(seed: seed)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/etc/app.conf", "one")
        let (file, tree) = try world.run(
            until: FileWatch.watch(file: "/etc/app.conf", on: host.loop)
                .and(FileWatch.watch(tree: "/etc", on: host.loop)))
        host.disk.write("/etc/app.conf", "two")
        #expect(try world.run(until: file.next()) == FileChange(path: "app.conf", kind: .modified))
        #expect(try world.run(until: tree.next()) == FileChange(path: "app.conf", kind: .modified))
        let directory = try world.run(until: Directory.open("/etc", on: host.loop))
        try world.run(until: directory.replace("app.conf", with: Data("three".utf8)))
        #expect(try world.run(until: file.next()) == FileChange(path: "app.conf", kind: .modified))
        #expect(try world.run(until: tree.next()) == FileChange(path: "app.conf", kind: .modified))
        host.disk.write("/etc/a/b/c", "x")
        for path in ["a", "a/b", "a/b/c"] {
            #expect(try world.run(until: tree.next()) == FileChange(path: path, kind: .created))
        }
        #expect(tree.directoryCount == 3)
        host.disk.rename("/etc/a", to: "/etc/z")
        #expect(try world.run(until: tree.next()) == FileChange(path: "z", kind: .moved(from: "a")))
        try world.run(until: directory.close())
        host.disk.remove("/etc")
        try world.run(until: { !tree.isOpen && !file.isOpen })
        #expect(throws: FileWatchError.removed(path: "/etc")) { try tree.closed.result?.get() }
    }
}
