import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

struct SimulatedProcessTests {
    @Test("a closure is a program: it has arguments, variables, streams, and its future says how it ends")
    func closure() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["greet"] = { process in
            #expect(process.arguments == ["/usr/bin/greet", "a"])
            #expect(process.environment == ["NAME": "x=y"])
            #expect(process.workingDirectory == "/tmp")
            return process.standardInput.readToEnd().flatMap { input in
                process.standardOutput.write(Data("hello ".utf8) + input)
                process.standardError.write("error")
                return loop.succeeded(3, after: .seconds(5))
            }
        }
        var configuration = ChildProcess.Configuration("/usr/bin/greet", "a")
        configuration.environment = .only(["NAME": "x=y"])
        configuration.workingDirectory = "/tmp"
        let start = loop.now
        let outcome = try loop.run(until: ChildProcess.run(configuration, input: Data("you".utf8), on: loop))
        #expect(outcome.exit == .code(3))
        #expect(outcome.standardOutput == Data("hello you".utf8) && outcome.standardError == Data("error".utf8))
        #expect(start.duration(to: loop.now) == .seconds(5))
        loop.shutdown()
        #expect(loop.statistics.handles == 0)
    }

    @Test("a program that there is not cannot be started, nor one that gets what is not simulated")
    func missing() throws {
        let loop = EventLoop.virtual()
        #expect(throws: ProcessError.self) { try ChildProcess.start(.init("greet"), on: loop) }
        loop.simulatedPrograms["greet"] = { _ in loop.succeeded(0) }
        var configuration = ChildProcess.Configuration("greet")
        configuration.standardInput = .file("/etc/passwd")
        do {
            _ = try ChildProcess.start(configuration, on: loop)
            Issue.record("it was started")
        } catch {
            #expect(
                "\(error)"
                    == "greet was to get a file, a terminal or a descriptor, which a simulated process cannot have; give it "
                    + "streams")
        }
        loop.shutdown()
    }

    @Test("a signal ends a program that does not wait for it, and one that does decides by itself")
    func signals() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["stubborn"] = { process in process.signal(.terminate).flatMap { loop.never() } }
        loop.simulatedPrograms["willing"] = { process in process.signal(.terminate).map { 4 } }
        loop.simulatedPrograms["plain"] = { _ in loop.never() }
        let exits = try ["stubborn", "willing", "plain"].map {
            let child = try ChildProcess.start(.init($0), on: loop)
            loop.advance(by: .milliseconds(1))
            #expect(try child.send(.windowChange))
            return child.end(within: .seconds(3))
        }
        let start = loop.now
        #expect(
            try loop.run(until: Future.all(exits, on: loop)) == [
                .signal(.kill, coreDumped: false), .code(4), .signal(.terminate, coreDumped: false),
            ])
        #expect(start.duration(to: loop.now) == .seconds(3))
        loop.shutdown()
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
        let broken = try loop.run(until: ChildProcess.run(pipeline: [.init("write"), .init("first")], on: loop))
        #expect(broken.exits == [.code(1), .code(0)])
        loop.shutdown()
        #expect(loop.statistics.handles == 0)
    }

    @Test("a program that fails ends with code 1, and the end of its loop ends it")
    func failures() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["fail"] = { _ in throw FutureError.message("no") }
        #expect(try loop.run(until: ChildProcess.start(.init("fail"), on: loop).exit) == .code(1))
        var isCancelled = false
        loop.simulatedPrograms["wait"] = { _ in
            let work = loop.never(of: Int32.self)
            work.whenCancelled { isCancelled = true }
            return work
        }
        let child = try ChildProcess.start(.init("wait"), on: loop)
        var failure: (any Error)?
        child.exit.whenFailure { failure = $0 }
        loop.advance(by: .seconds(1))
        loop.shutdown()
        #expect(failure as? FutureError == .shutDown)
        #expect(isCancelled)
    }

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
}
