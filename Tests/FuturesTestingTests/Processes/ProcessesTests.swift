import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

struct ProcessesTests {
    @Test("a program in a world inherits the streams of its host, and dies with it")
    func world() throws {
        let world = World(seed: 17)
        defer { world.end() }
        var exit: ChildProcess.Exit?
        let host = try world.addHost("a") { host in
            host.programs["greet"] = { process in process.standardOutput.write("hello\n").map { 0 } }
            host.programs["wait"] = { process in process.loop.never() }
            try ChildProcess.start(.init("greet"), on: host.loop).exit.whenSuccess { exit = $0 }
            _ = try ChildProcess.start(.init("wait"), on: host.loop)
        }
        try world.run(for: .seconds(1))
        #expect(exit == .code(0))
        #expect(host.standardOutput.readLine() == "hello")
        host.maxDescriptors = 1
        #expect(throws: ProcessError.self) { try ChildProcess.start(.init("greet"), on: host.loop) }
        host.kill()
        try world.run(for: .seconds(1))
        host.maxDescriptors = .max
        host.restart()
        try world.run(for: .seconds(1))
        #expect(host.standardOutput.readLine() == "hello")
    }

    @Test("programs of a pipeline read from each other, and one that writes waits for its reader")
    func pipeline() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["write"] = { process in
            process.standardOutput.write(Data(repeating: 7, count: 1_000_000)).map { 0 }
        }
        loop.simulatedPrograms["count"] = { process in
            var count = 0
            return process.standardInput.forEachChunk { count += $0.count }.flatMap {
                process.standardOutput.write("\(count)").map { 0 }
            }
        }
        loop.simulatedPrograms["first"] = { process in process.standardInput.read(exactly: 3).map { _ in 0 } }
        let count = ChildProcess.run(pipeline: [.init("write"), .init("count")], on: loop)
        #expect(try loop.run(until: count).standardOutput == Data("1000000".utf8))
        let broken = try loop.run(
            until: ChildProcess.run(pipeline: [.init("write"), .init("first")], on: loop))
        #expect(broken.exits == [.code(1), .code(0)])
        loop.shutdown()
        #expect(loop.statistics.handles == 0)
    }

    @Test("a supervisor on a virtual loop has no orphans to wait for")
    func orphans() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["wait"] = { process in process.loop.never() }
        let supervisor = ProcessSupervisor(on: loop)
        try supervisor.adoptOrphans()
        let child = try ChildProcess.start(.init("wait"), on: loop)
        let start = loop.now
        try loop.run(until: supervisor.end(within: .seconds(5)))
        #expect(loop.now == start)
        #expect(!child.exit.isCompleted)
        child.exit.ignoreFailure()
        loop.shutdown()
    }
}
