import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct ProcessRunTests {
    @Test("a program that is run completes with its exit and with all that it writes")
    func outcome() throws {
        try withLoop { loop throws in
            let script = shell("cat; echo error >&2; exit 3")
            let outcome = try loop.run(until: ChildProcess.run(script, input: Data("input".utf8), on: loop))
            #expect(outcome.exit == .code(3) && !outcome.isSuccess)
            #expect(
                outcome.standardOutput == Data("input".utf8) && outcome.standardError == Data("error\n".utf8))
            #expect(complaint { _ = try outcome.requireSuccess() } == "/bin/sh has ended with code 3: error")
            let success = try loop.run(until: ChildProcess.run(shell("echo out"), on: loop)).requireSuccess()
            #expect(success.standardOutput == Data("out\n".utf8) && success.isSuccess)
            let killed = try loop.run(until: ChildProcess.run(shell("kill -9 $$"), on: loop))
            #expect(complaint { _ = try killed.requireSuccess() } == "/bin/sh has ended with signal 9")
        }
    }

    @Test("a program need not read all of its input")
    func unreadInput() throws {
        try withLoop { loop throws in
            let input = Data(repeating: 1, count: 4 << 20)
            let outcome = try loop.run(
                until: ChildProcess.run(.init("head", "-c", "3"), input: input, on: loop))
            #expect(outcome.standardOutput == Data([1, 1, 1]) && outcome.isSuccess)
            let none = try loop.run(until: ChildProcess.run(.init("true"), input: input, on: loop))
            #expect(none.standardOutput.isEmpty && none.isSuccess)
        }
    }

    @Test(
        "a program that writes more than the limit is ended, and so is one that takes too long, or is cancelled"
    )
    func ended() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.run(until: ChildProcess.run(.init("true"), input: Data([1]), on: loop))
                try loop.run()
                let before = descriptorsInUse()
                let tooLong = ChildProcess.run(.init("yes"), limit: 1000, on: loop)
                #expect(loop.failure(of: tooLong) as? StreamError == .limitExceeded(limit: 1000))
                #expect(hasNoChild())

                let late = ChildProcess.run(.init("sleep", "1000"), timeout: .milliseconds(20), on: loop)
                #expect(loop.failure(of: late) as? FutureError == .timedOut(after: .milliseconds(20)))
                #expect(hasNoChild())

                let cancelled = ChildProcess.run(.init("sleep", "1000"), on: loop)
                cancelled.cancel()
                // The future ends when the program has.
                #expect(!cancelled.isCompleted && !hasNoChild())
                #expect(loop.outcome(of: cancelled).isCancellation)
                #expect(hasNoChild())
                try loop.run()
                expectNoMore(than: before)
            }
        }
    }

    @Test("what cannot be run fails, and makes no sense in words")
    func nonsense() throws {
        try withLoop { loop throws in
            func refusal(_ future: Future<ChildProcess.Outcome>) -> String? {
                loop.failure(of: future).map { "\($0)" }
            }
            #expect(
                refusal(ChildProcess.run(.init("/nowhere/x"), on: loop))?.hasPrefix("cannot start /nowhere/x")
                    == true)
            #expect(
                refusal(ChildProcess.run(.init("true"), limit: -1, on: loop))
                    == "run was given a limit of -1; give zero or more")
            #expect(
                refusal(ChildProcess.run(.init("true"), timeout: .seconds(-1), on: loop))
                    == "a timeout of -1.0 seconds is negative; give zero or more")
            var configuration = ChildProcess.Configuration("true")
            configuration.standardInput = .inherited
            #expect(
                refusal(ChildProcess.run(configuration, input: Data([1]), on: loop))
                    == "run was given input for true, whose standardInput is set to something else; leave "
                    + "out one of the two")
            configuration.terminal = .init(columns: 80, rows: 24)
            #expect(
                refusal(ChildProcess.run(configuration, on: loop))
                    == "true is configured with a terminal, which run cannot read; call start, and read "
                    + "from the terminal")
        }
    }

    @Test("a loop that is shut down fails what runs")
    func shutdown() throws {
        let loop = try EventLoop()
        let running = ChildProcess.run(.init("sleep", "1000"), on: loop)
        var failure: (any Error)?
        running.whenFailure { failure = $0 }
        loop.shutdown()
        #expect(failure as? FutureError == .shutDown)
    }

    @Test("a run that has ended lets go of its pipes, though the program has left something that has them")
    func leftBehind() throws {
        try withLoop { loop throws in
            try withDirectory { directory in
                let script = "setsid sleep 1000 & echo $! > \(directory)/left; sleep 1000"
                let run = ChildProcess.run(shell(script), on: loop)
                try loop.runUntil { contents("\(directory)/left")?.hasSuffix("\n") == true }
                run.cancel()
                #expect(loop.failure(of: run) is CancellationError)
                try loop.runUntil { loop.statistics.handles == 0 }
                let left = contents("\(directory)/left").flatMap { Int32($0.dropLast()) }
                #expect(kill(try #require(left), SIGKILL) == 0)
            }
        }
    }

    @Test("a process that has ended is not signalled, nor is one that nobody holds any more")
    func ended() throws {
        try withLoop { loop in
            let (process, _) = try loop.system.startProcess(ChildProcess.Configuration("true").launch())
            let ended = loop.makePromise(of: CInt?.self)
            process.onEnd = { ended.succeed($0) }
            #expect(try loop.run(until: ended.future) == 0)
            for _ in 0..<2 {
                #expect(try !process.signal(SIGTERM, toGroup: false) && !process.groupLives)
                process.close()
            }
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("a process whose state cannot be looked at counts as living")
    func unknownProcess() async {
        await #expect(processExitsWith: .success) {
            #expect(ProcessGroup.contains(getpid(), in: getpgrp()))
            withFreeDescriptors(0) {
                #expect(ProcessGroup.contains(getpid(), in: getpgrp()))
                #expect(!ProcessGroup.contains(getpid(), in: getpgrp() + 1))
                #expect(ProcessGroup.all == nil)
            }
        }
    }
}
