import FoundationEssentials
import Futures
import FuturesTesting
import Testing
import UVFutures

struct SimulatedFileTests {
    @Test("locks exclude each other, and end with the file or with the program")
    func locks() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/x", "x")
        func open() throws -> File {
            try world.run(
                until: Directory.open("/", on: host.loop).flatMap { $0.open("x", .readWrite) })
        }
        do {
            let (first, second) = (try open(), try open())
            let lock = try world.run(until: first.lock(.exclusive))
            #expect(try world.run(until: second.tryLock(.shared)) == nil)
            try world.run(until: lock.release())
            let shared = try world.run(until: first.lock(.shared))
            #expect(try world.run(until: second.tryLock(.shared)) != nil)
            let waiting = second.lock(.exclusive)
            waiting.ignoreFailure()
            try world.run(for: .seconds(1))
            #expect(!waiting.isCompleted)
            withExtendedLifetime((shared, first)) {}
        }
        host.kill()
        host.restart()
        let third = try open()
        #expect(try world.run(until: third.tryLock(.exclusive)) != nil)
    }

    @Test("a file that was opened for one direction refuses the other, and one that was removed goes on")
    func access() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/x", "text")
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        func code<Value>(_ future: Future<Value>) throws -> SystemError.Code? {
            do { _ = try world.run(until: future) } catch let error as FileError { return error.code }
            return nil
        }
        let reader = try world.run(until: directory.open("x"))
        let writer = try world.run(until: directory.open("x", .writeOnly))
        #expect(try code(reader.write(Data("y".utf8), at: 0)) == .badDescriptor)
        #expect(try code(writer.readAll()) == .badDescriptor)
        host.disk.remove("/x")
        #expect(try code(writer.append(Data("y".utf8))) == nil)
        #expect(try world.run(until: reader.readAll()) == Data("texty".utf8))
        #expect(try code(directory.open("x")) == .notFound)
    }
}
