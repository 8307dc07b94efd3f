import Foundation
import Futures
import FuturesTesting
import Testing
import UVFutures

struct SimulatedChildTests {
    @Test("a signal ends a program that does not wait for it, and one that does decides by itself")
    func signals() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["stubborn"] = { process in process.signal(.terminate).flatMap { loop.never() }
        }
        loop.simulatedPrograms["willing"] = { process in process.signal(.terminate).map { 4 } }
        loop.simulatedPrograms["plain"] = { _ in loop.never() }
        let children = try ["stubborn", "willing", "plain"].map {
            try ChildProcess.start(.init($0), on: loop)
        }
        loop.advance(by: .milliseconds(1))
        for child in children { #expect(try child.send(.windowChange)) }
        let exits = children.map { $0.end(within: .seconds(3)) }
        let start = loop.now
        #expect(
            try loop.run(until: Future.all(exits, on: loop)) == [
                .signal(.kill, coreDumped: false), .code(4), .signal(.terminate, coreDumped: false),
            ])
        #expect(start.duration(to: loop.now) == .seconds(3))
        loop.shutdown()
    }

    @Test("a signal that stops a program does not end it, and keeps the next ones until it goes on")
    func stops() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["plain"] = { _ in loop.never() }
        let (stopped, killed) = (
            try ChildProcess.start(.init("plain"), on: loop), try ChildProcess.start(.init("plain"), on: loop)
        )
        loop.advance(by: .milliseconds(1))
        for child in [stopped, killed] {
            #expect(try child.send(.stop))
            #expect(try child.send(.terminate))
        }
        loop.advance(by: .seconds(1))
        #expect(!stopped.exit.isCompleted && !killed.exit.isCompleted)
        #expect(try killed.send(.kill))
        #expect(try loop.run(until: killed.exit) == .signal(.kill, coreDumped: false))
        #expect(!stopped.exit.isCompleted)
        #expect(try stopped.send(.continue))
        #expect(try loop.run(until: stopped.exit) == .signal(.terminate, coreDumped: false))
        loop.shutdown()
    }

    @Test("what a program has written leaves before it ends, though it does not wait for that")
    func output() throws {
        let loop = EventLoop.virtual()
        let bytes = Data(repeating: 7, count: 1_000_000)
        loop.simulatedPrograms["write"] = { process in
            process.standardOutput.write(bytes)
            return process.loop.succeeded(3)
        }
        let outcome = try loop.run(until: ChildProcess.run(.init("write"), on: loop))
        #expect(outcome.exit == .code(3))
        #expect(outcome.standardOutput == bytes)
        loop.shutdown()
    }

    @Test("a program that fails ends with code 1, and the end of its loop ends it")
    func failures() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["fail"] = { _ in throw FutureError.message("no") }
        #expect(try loop.run(until: ChildProcess.start(.init("fail"), on: loop).exit) == .code(1))
        var isOver = false
        loop.simulatedPrograms["wait"] = { _ in
            let work = loop.never(of: Int32.self)
            work.whenComplete { _ in isOver = true }
            return work
        }
        let child = try ChildProcess.start(.init("wait"), on: loop)
        var failure: (any Error)?
        child.exit.whenFailure { failure = $0 }
        loop.advance(by: .seconds(1))
        loop.shutdown()
        #expect(failure as? FutureError == .shutDown)
        #expect(isOver)
    }
}
