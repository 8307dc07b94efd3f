import CFuturesSystem
import CLibUV
import Foundation
import Futures
import Glibc
import TestSupport
import Testing
import UVFutures

struct ChildProcessTests {
    @Test("the exit of a program is its code, or the signal that has ended it")
    func exits() throws {
        try withLoop { loop throws in
            for code in [Int32(0), 1, 7, 255] {
                let exit = try loop.exit(of: shell("exit \(code)"))
                #expect(exit == .code(code))
                #expect(exit.isSuccess == (code == 0))
            }
            #expect(try loop.exit(of: shell("kill -9 $$")) == .signal(.kill, coreDumped: false))
            var configuration = shell("kill -TERM $$")
            configuration.limits[.coreSize] = .init(0)
            #expect(try loop.exit(of: configuration) == .signal(.terminate, coreDumped: false))
        }
    }

    @Test("a program reads what is written, and what it writes can be read, to the end of both")
    func streams() throws {
        try withLoop { loop throws in
            var cat = shell("cat; echo done >&2")
            (cat.standardInput, cat.standardOutput, cat.standardError) = (.stream, .stream, .stream)
            let child = try ChildProcess.start(cat, on: loop)
            child.standardInput!.write("hello\n")
            #expect(try loop.run(until: child.standardOutput!.readLine()) == Data("hello".utf8))
            #expect(!child.exit.isCompleted)
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 4) })
            child.standardInput!.write(bytes)
            child.standardInput!.shutdownWrite()
            #expect(try loop.run(until: child.standardOutput!.readToEnd()) == bytes)
            #expect(try loop.run(until: child.standardError!.readToEnd()) == Data("done\n".utf8))
            #expect(try loop.run(until: child.exit).isSuccess)
            let streams = [child.standardInput!, child.standardOutput!, child.standardError!]
            for stream in streams { try loop.run(until: stream.close()) }
        }
    }

    @Test("a program keeps its loop running until it has ended, and nothing has to hold it")
    func keepsLoop() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                let before = descriptorsInUse()
                var exit: ChildProcess.Exit?
                try ChildProcess.start(shell("exit 3"), on: loop).exit.whenSuccess { exit = $0 }
                try loop.run()
                #expect(exit == .code(3))
                #expect(hasNoChild())
                expectNoMore(than: before)
            }
        }
    }

    @Test("streams that nobody uses end with the program, and leave no descriptor and no report")
    func unusedStreams() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.run(until: ChildProcess.run(.init("true"), input: Data([1]), on: loop))
                try loop.run()
                let before = descriptorsInUse()
                for _ in 0..<10 {
                    var configuration = shell("echo hello; echo hello >&2")
                    configuration.standardInput = .stream
                    (configuration.standardOutput, configuration.standardError) = (.stream, .stream)
                    _ = try loop.exit(of: configuration)
                    try loop.run()
                }
                expectNoMore(than: before)
                #expect(hasNoChild())
            }
        }
    }

    @Test("a signal reaches the program while it runs, and nobody afterwards")
    func signals() throws {
        try withLoop { loop throws in
            let child = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect(try child.send(.user1))
            #expect(try loop.run(until: child.exit) == .signal(.user1, coreDumped: false))
            #expect(try !child.send(.terminate))
            #expect(try loop.run(until: child.end()) == .signal(.user1, coreDumped: false))
            #expect(
                loop.failure(of: loop.submit { try child.send(.terminate, toGroup: true) }).map { "\($0)" }
                    == "process \(child.id) has no group of its own, so that the signal would reach this "
                    + "process too; set group to newGroup")
            let other = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect(
                complaint { try other.send(.init(rawValue: 1000)) }
                    == "a signal must be from 1 to 64, not 1000")
            _ = try loop.run(until: other.end(within: .zero))
        }
    }

    @Test("a program that does not end when it is asked to is killed after the grace, and not before")
    func grace() throws {
        try withLoop { loop throws in
            var stubborn = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done")
            stubborn.standardOutput = .stream
            stubborn.group = .newGroup
            let child = try ChildProcess.start(stubborn, on: loop)
            _ = try loop.run(until: child.standardOutput!.readLine())
            let start = loop.now
            #expect(
                try loop.run(until: child.end(within: .milliseconds(200)))
                    == .signal(.kill, coreDumped: false))
            #expect(start.duration(to: loop.now) >= .milliseconds(200))

            var willing = shell("trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done")
            willing.standardOutput = .stream
            let second = try ChildProcess.start(willing, on: loop)
            _ = try loop.run(until: second.standardOutput!.readLine())
            #expect(try loop.run(until: second.end(within: .seconds(1000))) == .code(4))
            let error = loop.failure(of: second.end(within: .seconds(-1)))
            #expect("\(error!)" == "end(within:) was given -1.0 seconds; give zero or more")
        }
    }

    @Test("a program that is stopped ends like any other")
    func stopped() throws {
        try withLoop { loop throws in
            let child = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect(try child.send(.stop))
            #expect(eventually { state(of: child.id) == "T" })
            try loop.run(for: .milliseconds(20))
            #expect(!child.exit.isCompleted)
            #expect(try loop.run(until: child.end()) == .signal(.terminate, coreDumped: false))
            let second = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect(try second.send(.stop))
            #expect(eventually { state(of: second.id) == "T" })
            #expect(try loop.run(until: second.end(within: .zero)) == .signal(.kill, coreDumped: false))
        }
    }

    @Test("a program that has ended before its loop looks is found, once")
    func endedBefore() throws {
        try withLoop { loop throws in
            let child = try ChildProcess.start(shell("exit 9"), on: loop)
            #expect(eventually { state(of: child.id) == "Z" })
            var count = 0
            child.exit.whenComplete { _ in count += 1 }
            #expect(try loop.run(until: child.exit) == .code(9))
            try loop.run()
            #expect(count == 1)
            #expect(state(of: child.id) == nil)
        }
    }

    @Test("the end of a group ends what the program has started, too", arguments: [false, true])
    func group(isSession: Bool) throws {
        try withLoop { loop throws in
            var parent = shell("sleep 1000 & echo $!; wait")
            parent.standardOutput = .stream
            parent.group = isSession ? .newSession : .newGroup
            let child = try ChildProcess.start(parent, on: loop)
            let grandchild = try #require(try loop.run(until: child.standardOutput!.readLine()))
            let number = try #require(Int32(String(decoding: grandchild, as: UTF8.self)))
            #expect(getpgid(number) == child.id)
            #expect((getsid(number) == child.id) == isSession)
            let end = child.standardOutput!.readToEnd()
            _ = try loop.run(until: child.end())
            // The end comes when the last of the group has gone.
            #expect(try loop.run(until: end).isEmpty)
            try loop.run(until: child.standardOutput!.close())
        }
    }

    @Test("a loop that is shut down kills its programs, unless they are to run on, and leaves no zombie")
    func shutdown() async {
        await #expect(processExitsWith: .success) {
            var numbers: [Int32] = []
            var failures: [any Error] = []
            try withLoop { loop throws in
                for endsWithLoop in [true, false] {
                    var configuration = ChildProcess.Configuration("sleep", "1000")
                    configuration.endsWithLoop = endsWithLoop
                    let child = try ChildProcess.start(configuration, on: loop)
                    child.exit.whenFailure { failures.append($0) }
                    numbers.append(child.id)
                }
            }
            #expect(failures.count == 2 && failures.allSatisfy { $0 as? FutureError == .shutDown })
            #expect(eventually { state(of: numbers[0]) == nil })
            #expect(eventually { state(of: numbers[1]) == "S" })
            kill(numbers[1], SIGKILL)
            #expect(eventually { state(of: numbers[1]) == nil })
            #expect(eventually(hasNoChild))
        }
    }

    @Test("on a loop that has been shut down, nothing starts")
    func closedLoop() throws {
        let loop = try EventLoop()
        loop.shutdown()
        #expect(throws: FutureError.shutDown) { try ChildProcess.start(.init("true"), on: loop) }
    }

    @Test("on a host's loop, programs run as on any other")
    func attached() throws {
        try withHost { host, loop in
            let outcome = ChildProcess.run(.init("cat"), input: Data("hello".utf8), on: loop)
            #expect(try host.run(until: outcome).standardOutput == Data("hello".utf8))
            let child = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect(try host.run(until: child.end()) == .signal(.terminate, coreDumped: false))
        }
    }

    @Test("statistics, a dump and an observer tell of a program")
    func diagnostics() throws {
        try withLoop { loop throws in
            var events: [String] = []
            loop.observe { event in
                switch event {
                case .opened(let what): events.append("opened \(what)")
                case .closed(let what, let failure): events.append("closed \(what) \(failure == nil)")
                default: break
                }
            }
            let child = try ChildProcess.start(.init("sleep", "1000"), on: loop)
            #expect("\(child)" == "process \(child.id) (sleep)")
            #expect(loop.statistics.handles == 1)
            #expect(loop.dump().contains("handle: process \(child.id) (sleep)"))
            _ = try loop.run(until: child.end())
            try loop.run()
            #expect(
                events == ["opened process \(child.id) (sleep)", "closed process \(child.id) (sleep) true"])
        }
    }

    @Test("a program has a terminal: its size, what is typed, the end of it, and what it shows")
    func terminal() throws {
        try withLoop { loop throws in
            var configuration = shell(
                "tty; stty size; trap 'stty size; exit 5' WINCH; cat; while :; do sleep 0.01; done")
            configuration.terminal = .init(columns: 91, rows: 17)
            let child = try ChildProcess.start(configuration, on: loop)
            let terminal = child.terminal!
            #expect(terminal.kind == .terminal && child.standardInput == nil)
            let name = try #require(try loop.run(until: terminal.readLine()))
            #expect(String(decoding: name, as: UTF8.self).hasPrefix("/dev/pts/"))
            #expect(try loop.run(until: terminal.readLine()) == Data("17 91".utf8))
            terminal.write("typed\n")
            // As the terminal shows it, and as the program answers.
            for _ in 0..<2 { #expect(try loop.run(until: terminal.readLine()) == Data("typed".utf8)) }
            terminal.shutdownWrite()
            try child.setWindowSize(.init(columns: 33, rows: 44))
            let rest = String(decoding: try loop.run(until: terminal.readToEnd()), as: UTF8.self)
            #expect(rest.contains("44 33"))
            #expect(try loop.run(until: child.exit) == .code(5))
            try loop.run(until: terminal.close())
            #expect(
                complaint { try child.setWindowSize(.init(columns: 1, rows: 1)) }?.contains("EBADF") == true)
            #expect(
                complaint { try child.setWindowSize(.init(columns: -1, rows: 1)) }
                    == "a window of -1 by 1 is out of range; give 0 to 65535 for both")
            let other = try ChildProcess.start(.init("true"), on: loop)
            #expect(other.loop === loop.core)
            #expect(
                complaint { try other.setWindowSize(.init(columns: 1, rows: 1)) }
                    == "process \(other.id) has no terminal; give it one at its start")
            #expect(try loop.run(until: other.exit).isSuccess)
        }
    }

    @Test("a terminal whose program exits without a word comes to its end in order")
    func terminalEnd() throws {
        try withLoop { loop throws in
            var configuration = shell("trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done")
            configuration.terminal = .init(columns: 80, rows: 24)
            let child = try ChildProcess.start(configuration, on: loop)
            let terminal = child.terminal!
            _ = try loop.run(until: terminal.readLine())
            let rest = terminal.readToEnd()
            try child.send(.terminate)
            #expect(try loop.run(until: rest).isEmpty)
            #expect(try loop.run(until: child.exit) == .code(3))
            try loop.run(until: terminal.close())
        }
    }

    @Test("a program that writes faster than it is read waits, and what it writes comes to its end")
    func backPressure() throws {
        try withLoop { loop throws in
            let size = isSoaking ? 1 << 30 : 32 << 20
            var configuration = shell("head -c \(size) /dev/zero; echo end >&2")
            (configuration.standardOutput, configuration.standardError) = (.stream, .stream)
            let child = try ChildProcess.start(configuration, on: loop)
            let (output, errors) = (child.standardOutput!, child.standardError!)
            let end = errors.readLine()
            _ = try loop.run(until: output.read(exactly: 1))
            try loop.run(for: .milliseconds(100))
            // What this side reads ahead, and the last block.
            #expect(output.bytesReceived <= 2 * 65_536 + 65_536)
            #expect(!end.isCompleted && state(of: child.id) != nil)
            var (count, most) = (1, 0)
            let reading = output.forEachChunk { chunk in
                count += chunk.count
                most = max(most, output.bytesReceived - count)
                return loop.succeeded(())
            }
            try loop.run(until: reading)
            #expect(count == size)
            #expect(most <= 2 * 65_536)
            #expect(try loop.run(until: end) == Data("end".utf8))
            #expect(try loop.run(until: child.exit).isSuccess)
            loop.closeAll(output, errors)
        }
    }
}
