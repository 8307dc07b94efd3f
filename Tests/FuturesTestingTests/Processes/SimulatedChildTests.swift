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

    @Test("each signal has the effect that it has by default")
    func defaults() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["plain"] = { _ in loop.never() }
        for number in 1...64 as ClosedRange<Int32> {
            let child = try ChildProcess.start(.init("plain"), on: loop)
            loop.advance(by: .milliseconds(1))
            #expect(try child.send(ProcessSignal(rawValue: number)))
            loop.advance(by: .milliseconds(1))
            let isIgnored = [SIGCHLD, SIGCONT, SIGURG, SIGWINCH].contains(number)
            let stops = [SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU].contains(number)
            #expect(child.exit.isCompleted == (!isIgnored && !stops), "\(number)")
            if isIgnored || stops {
                #expect(try child.send(.interrupt))
                loop.advance(by: .milliseconds(1))
                #expect(child.exit.isCompleted == isIgnored, "\(number)")
                if stops { #expect(try child.send(.continue)) }
            }
            let signal = ProcessSignal(rawValue: isIgnored || stops ? SIGINT : number)
            #expect(try loop.run(until: child.exit) == .signal(signal, coreDumped: false))
            #expect(try !child.send(.terminate))
        }
        loop.shutdown()
    }

    @Test("signal 0 only asks whether a process lives, and there is none after 64")
    func numbers() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["plain"] = { _ in loop.never() }
        let child = try ChildProcess.start(.init("plain"), on: loop)
        #expect(try child.send(ProcessSignal(rawValue: 0)))
        for number in [-1, 65] as [Int32] {
            #expect(throws: (any Error).self) { try child.send(ProcessSignal(rawValue: number)) }
        }
        loop.advance(by: .seconds(1))
        #expect(!child.exit.isCompleted)
        loop.shutdown()
    }

    @Test("a signal has its default effect again when the program waits for it no more")
    func effectComesBack() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["patient"] = { process in
            let waits = [process.signal(.interrupt), process.signal(.interrupt)]
            return waits[0].timeout(after: .seconds(1)).recover { _ in }
                .flatMap { waits[1].timeout(after: .seconds(1)).recover { _ in } }
                .flatMap { loop.never(of: Int32.self) }
        }
        for (patience, ends) in [(1, false), (3, true)] {
            let child = try ChildProcess.start(.init("patient"), on: loop)
            loop.advance(by: .seconds(patience))
            #expect(try child.send(.interrupt))
            loop.advance(by: .milliseconds(100))
            #expect(child.exit.isCompleted == ends)
            _ = try child.send(.kill)
            _ = try loop.run(until: child.exit)
        }
        loop.shutdown()
    }

    @Test("a program cannot wait for the signals that kill and stop")
    func unstoppable() throws {
        let loop = EventLoop.virtual()
        var handled = 0
        loop.simulatedPrograms["stubborn"] = { process in
            for signal in [ProcessSignal.kill, .stop] {
                process.signal(signal).whenSuccess { handled += 1 }
            }
            return loop.never()
        }
        let child = try ChildProcess.start(.init("stubborn"), on: loop)
        loop.advance(by: .milliseconds(1))
        #expect(try child.send(.stop))
        #expect(try child.send(.terminate))
        loop.advance(by: .seconds(1))
        #expect(!child.exit.isCompleted)
        #expect(try child.send(.kill))
        #expect(try loop.run(until: child.exit) == .signal(.kill, coreDumped: false))
        #expect(handled == 0)
        loop.shutdown()
    }

    @Test("of an exit code the system keeps the lowest eight bits")
    func codes() throws {
        let loop = EventLoop.virtual()
        for (code, kept) in [(0, 0), (1, 1), (255, 255), (256, 0), (259, 3), (-1, 255)] as [(Int32, Int32)] {
            loop.simulatedPrograms["end"] = { _ in loop.succeeded(code) }
            #expect(try loop.run(until: ChildProcess.start(.init("end"), on: loop).exit) == .code(kept))
        }
        loop.shutdown()
    }

    @Test("a program that is killed before it begins never begins")
    func killedAtOnce() throws {
        var begun = 0
        for seed in 0..<20 as Range<UInt64> {
            let world = World(seed: seed)
            defer { world.end() }
            let host = try world.addHost("a")
            host.programs["plain"] = { process in
                begun += 1
                return process.loop.never()
            }
            let child = try ChildProcess.start(.init("plain"), on: host.loop)
            #expect(try child.send(.kill))
            #expect(try world.run(until: child.exit) == .signal(.kill, coreDumped: false))
        }
        #expect((1..<20).contains(begun), "\(begun)")
    }

    @Test("a program that returns while it is stopped ends when it goes on")
    func returnsStopped() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["brief"] = { _ in loop.succeeded(3, after: .seconds(1)) }
        let child = try ChildProcess.start(.init("brief"), on: loop)
        loop.advance(by: .milliseconds(1))
        #expect(try child.send(.stop))
        loop.advance(by: .seconds(10))
        #expect(!child.exit.isCompleted)
        #expect(try child.send(.continue))
        #expect(try loop.run(until: child.exit) == .code(3))
        loop.shutdown()
    }

    @Test("a program can be killed while nobody reads the last of what it has written")
    func killedWriting() throws {
        let loop = EventLoop.virtual()
        loop.simulatedPrograms["write"] = { process in
            process.standardOutput.write(Data(count: 1_000_000))
            return loop.succeeded(3)
        }
        var configuration = ChildProcess.Configuration("write")
        configuration.standardOutput = .stream
        let child = try ChildProcess.start(configuration, on: loop)
        loop.advance(by: .seconds(10))
        #expect(!child.exit.isCompleted)
        #expect(try child.send(.kill))
        #expect(try loop.run(until: child.exit) == .signal(.kill, coreDumped: false))
        loop.advance(by: .seconds(1))
        child.standardOutput?.abort()
        loop.shutdown()
    }

    @Test("an observer of the loop is told of a process")
    func observed() throws {
        let loop = EventLoop.virtual()
        var events: [String] = []
        loop.observe { event in
            switch event {
            case .opened(let what): events.append("opened \(what)")
            case .closed(let what, let failure): events.append("closed \(what) \(failure == nil)")
            default: break
            }
        }
        loop.simulatedPrograms["end"] = { _ in loop.succeeded(0) }
        let child = try ChildProcess.start(.init("end"), on: loop)
        #expect(try loop.run(until: child.exit) == .code(0))
        loop.advance(by: .seconds(1))
        #expect(
            events.filter { $0.contains("process") } == ["opened \(child)", "closed \(child) true"],
            "\(events)")
        loop.shutdown()
    }
}
