import Foundation
import Glibc
import Testing
import UVFutures

struct PipelineTests {
    @Test("each program of a pipeline reads what the one before it writes")
    func pipeline() throws {
        try withLoop { loop throws in
            let input = Data("c\na\nb\na\n".utf8)
            let pipeline: [ChildProcess.Configuration] = [
                .init("sort"), .init("uniq"), shell("cat; echo last >&2; exit 2"),
            ]
            let outcome = try loop.run(until: ChildProcess.run(pipeline: pipeline, input: input, on: loop))
            #expect(outcome.standardOutput == Data("a\nb\nc\n".utf8))
            #expect(outcome.standardError == Data("last\n".utf8))
            #expect(outcome.exits == [.code(0), .code(0), .code(2)])
            #expect(complaint { _ = try outcome.requireSuccess() } == "/bin/sh has ended with code 2: last")
        }
    }

    @Test("a program of a pipeline whose reader has ended finds that out")
    func brokenPipe() throws {
        try withLoop { loop throws in
            let pipeline: [ChildProcess.Configuration] = [.init("yes"), .init("head", "-n", "1")]
            let outcome = try loop.run(until: ChildProcess.run(pipeline: pipeline, on: loop))
            #expect(outcome.standardOutput == Data("y\n".utf8))
            #expect(outcome.exits == [.signal(.init(rawValue: SIGPIPE), coreDumped: false), .code(0)])
        }
    }

    @Test("a pipeline of which one program cannot be started leaves none of the others")
    func failure() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.run(until: ChildProcess.run(.init("true"), input: Data([1]), on: loop))
                try loop.run()
                let before = descriptorsInUse()
                let pipeline: [ChildProcess.Configuration] = [
                    .init("sleep", "1000"), .init("sleep", "1000"), .init("/nowhere/x"), .init("true"),
                ]
                #expect(
                    complaint { _ = try ChildProcess.start(pipeline: pipeline, on: loop) }?
                        .hasPrefix("cannot start /nowhere/x") == true)
                try loop.run()
                #expect(hasNoChild())
                expectNoMore(than: before)
            }
        }
    }

    @Test("a stream that is part of a pipeline cannot be redirected")
    func nonsense() throws {
        try withLoop { loop throws in
            var second = ChildProcess.Configuration("cat")
            second.standardInput = .stream
            let text =
                "cat is part of a pipeline, but its configuration sets a terminal, or a place for a stream "
                + "that the pipeline connects; leave that unset"
            #expect(
                complaint { _ = try ChildProcess.start(pipeline: [.init("true"), second], on: loop) } == text)
            var first = ChildProcess.Configuration("cat")
            first.standardOutput = .null
            #expect(
                complaint { _ = try ChildProcess.start(pipeline: [first, .init("true")], on: loop) } == text)
            var terminal = ChildProcess.Configuration("cat")
            terminal.terminal = .init(columns: 80, rows: 24)
            for pipeline in [[terminal, .init("true")], [.init("true"), terminal]] {
                #expect(complaint { _ = try ChildProcess.start(pipeline: pipeline, on: loop) } == text)
            }
            // One program is no pipeline.
            let alone = try ChildProcess.start(pipeline: [terminal], on: loop)[0]
            #expect(alone.terminal?.kind == .terminal)
            _ = try loop.run(until: alone.end())
            #expect(
                complaint { _ = try ChildProcess.start(pipeline: [], on: loop) }
                    == "the pipeline has no programs; give at least one")
            try loop.run()
        }
    }
}
