import FoundationEssentials
import Futures
import FuturesTesting
import Testing
import UVFutures

/// What a simulated disk has room for, and how it counts.
struct DiskSpaceTests {
    /// A virtual loop with its disk, and the open root of the disk.
    private final class Disk {
        let loop = EventLoop.virtual()
        let root: Directory
        var disk: SimulatedDisk { loop.simulatedDisk }

        init() throws { root = try loop.run(until: Directory.open("/", on: loop)) }

        func code<Value>(_ future: Future<Value>) throws -> SystemError.Code? {
            do { _ = try loop.run(until: future) } catch let error as FileError { return error.code }
            return nil
        }

        deinit { loop.shutdown() }
    }

    @Test("a disk takes as many bytes as it has room for, and can be overwritten when it is full")
    func capacity() throws {
        let disk = try Disk()
        disk.disk.capacity = 100
        #expect(disk.disk.capacity == 100)
        let file = try disk.loop.run(until: disk.root.open("x", .readWrite, creating: .ifMissing))
        #expect(try disk.code(file.write(Data(count: 101), at: 0)) == .noSpace)
        #expect(try disk.code(file.write(Data(count: 100), at: 0)) == nil)
        #expect(try disk.code(file.append(Data(count: 1))) == .noSpace)
        disk.disk.capacity = 0
        #expect(try disk.code(file.write(Data(count: 100), at: 0)) == nil)
        #expect(try disk.code(file.write(Data(count: 1), at: 100)) == .noSpace)
    }

    @Test("each new name needs one byte of room", arguments: [0, 1])
    func names(room: Int) throws {
        let disk = try Disk()
        let file = try disk.loop.run(until: disk.root.makeTemporaryFile())
        disk.disk.capacity = room
        let expected: SystemError.Code? = room == 0 ? .noSpace : nil
        #expect(try disk.code(disk.root.open("file", .writeOnly, creating: .ifMissing)) == expected)
        #expect(try disk.code(disk.root.makeDirectory("directory")) == expected)
        #expect(try disk.code(disk.root.makeSymbolicLink("symlink", to: "x")) == expected)
        #expect(try disk.code(disk.root.link(file, as: "link")) == expected)
        let error = Result { try UnixListener(path: "/socket", on: disk.loop) }
        #expect((try? error.get()) == nil ? room == 0 : room == 1)
    }

    @Test("a file takes whole blocks of 512 bytes, and belongs to the user and the group 0")
    func allocated() throws {
        let disk = try Disk()
        for (size, blocks) in [(0, 0), (1, 1), (512, 1), (513, 2), (1024, 2)] {
            disk.disk.write("/x", Data(count: size))
            let information = try disk.loop.run(until: disk.root.information(of: "x"))
            #expect(information.size == size && information.allocatedSize == blocks * 512)
            #expect(information.owner == 0 && information.group == 0 && information.device == 1)
        }
    }

    @Test("a file grows up to the largest size of ext4, and a longer write is cut off there")
    func largest() throws {
        let disk = try Disk()
        let largest = (1 << 44) - 4096
        let file = try disk.loop.run(until: disk.root.open("x", .readWrite, creating: .ifMissing))
        #expect(try disk.code(file.truncate(to: largest)) == nil)
        #expect(try disk.code(file.truncate(to: largest + 1)) == .fileTooLarge)
        #expect(try disk.code(file.write(Data(count: 2), at: largest - 1)) == .fileTooLarge)
        #expect(try disk.code(file.write(Data(count: 1), at: largest)) == .fileTooLarge)
        #expect(try disk.loop.run(until: file.information()).size == largest)
    }

    @Test("reads and writes reach as far as offsets do")
    func offsets() throws {
        let disk = try Disk()
        let file = try disk.loop.run(until: disk.root.open("x", .readWrite, creating: .ifMissing))
        #expect(try disk.loop.run(until: file.read(atMost: 1, at: .max - 1)).isEmpty)
        #expect(try disk.code(file.read(atMost: 2, at: .max - 1)) == .invalidArgument)
        #expect(try disk.code(file.write(Data(count: 1), at: .max - 1)) == .fileTooLarge)
        #expect(try disk.code(file.write(Data(count: 2), at: .max - 1)) == .invalidArgument)
    }

    @Test("the root of a new disk has a link for each directory in it, and two more")
    func root() throws {
        let disk = try Disk()
        #expect(disk.disk.names(in: "/") == ["run", "tmp"])
        #expect(try disk.loop.run(until: disk.root.information(of: ".")).linkCount == 4)
    }

    @Test("a path of a test may go up, at the root as well")
    func parents() throws {
        let disk = try Disk()
        disk.disk.write("/a/b/../../c", "1")
        disk.disk.write("/../d", "2")
        disk.disk.write("/a/../../e/f", "3")
        #expect(disk.disk.names(in: "/") == ["a", "c", "d", "e", "run", "tmp"])
        #expect(disk.disk.names(in: "/a") == ["b"] && disk.disk.names(in: "/e") == ["f"])
    }

    @Test("an operation that needs a descriptor for a moment fails when none is left, and no other does")
    func descriptors() throws {
        let world = World(seed: 1)
        defer { world.end() }
        let host = try world.addHost("a")
        host.disk.write("/x", "x")
        let directory = try world.run(until: Directory.open("/", on: host.loop))
        func code<Value>(_ future: Future<Value>) throws -> SystemError.Code? {
            do { _ = try world.run(until: future) } catch let error as FileError { return error.code }
            return nil
        }
        for (left, expected) in [(0, .tooManyOpenFiles), (2, nil)] as [(Int, SystemError.Code?)] {
            host.maxDescriptors = 1 + left
            #expect(try code(Directory.open("/", on: host.loop)) == expected)
            #expect(try code(directory.open("x")) == expected)
            #expect(try code(directory.openDirectory("run")) == expected)
            #expect(try code(directory.information(of: "x")) == expected)
            #expect(try code(directory.setPermissions(of: "x", to: 0o600)) == expected)
            #expect(try code(directory.makeTemporaryFile()) == expected)
            #expect(try code(directory.entries().makeAsyncIterator().pull()) == expected)
            #expect(try code(directory.rename("x", to: "y")) == nil)
            #expect(try code(directory.rename("y", to: "x")) == nil)
            #expect(try code(directory.makeSymbolicLink("link", to: "x")) == nil)
            #expect(try code(directory.target(ofSymbolicLink: "link")) == nil)
            #expect(try code(directory.remove("link")) == nil)
        }
    }

    @Test("operations take 50 to 200 microseconds in a world, and what is 35 seconds old outlives the power")
    func ofHost() throws {
        for seed in 0..<10 as Range<UInt64> {
            let world = World(seed: seed)
            defer { world.end() }
            let host = try world.addHost("a")
            #expect(host.disk.latency == .uniform(.microseconds(50)...(.microseconds(200))))
            let directory = try world.run(until: Directory.open("/", on: host.loop))
            try world.run(until: directory.append(Data(count: 5120), to: "x"))
            try world.run(for: .seconds(36))
            _ = try world.run(until: directory.contents(of: "x"))
            host.crash()
            #expect(host.disk.names(in: "/") == ["run", "tmp", "x"])
            #expect(host.disk.contents(of: "/x")?.count == 5120)
        }
    }
}
