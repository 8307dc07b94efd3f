import FoundationEssentials
import FuturesTesting
import TestSupport
import Testing
import UVFutures

/// The standard streams of a simulated program.
struct StandardPipeTests {
    /// A program that answers each line of its input.
    private static func lineCounter(_ host: SimulatedHost) async throws {
        let (input, output) = (try host.loop.standardInput(), try host.loop.standardOutput())
        for try await line in input.lines() { try await output.write("\(line.count)\n").value }
        try await output.write("that was all").value
        try await output.shutdownWrite().value
    }

    @Test("a program of a host reads what a test writes, and the test reads the answers by lines")
    func lines() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a", awaiting: Self.lineCounter)
        host.standardInput.write("one\nfour")
        try world.run(for: .seconds(1))
        #expect(host.standardOutput.unread == Data("3\n".utf8))
        #expect(host.standardOutput.readLine() == "3")
        #expect(host.standardOutput.readLine() == nil)
        #expect(host.standardInput.write(Data("teen\n".utf8)))
        host.standardInput.end()
        #expect(!host.standardInput.write("too late\n"))
        try world.run(until: { host.standardOutput.hasEnded })
        #expect(host.standardOutput.readLines() == ["8", "that was all"])
        #expect(host.standardOutput.read().isEmpty && host.standardError.read().isEmpty)
    }

    @Test("a virtual loop has standard streams, too")
    func virtual() throws {
        try withLoop { loop in
            let (input, output, error) = (
                try loop.standardInput(), try loop.standardOutput(), try loop.standardError()
            )
            #expect([input, output, error].map(\.kind) == [.pipe, .pipe, .pipe])
            loop.simulatedInput.write("hello\n")
            #expect(try loop.run(until: input.readLine()) == Data("hello".utf8))
            loop.simulatedInput.end()
            #expect(try loop.run(until: input.readToEnd()).isEmpty)
            output.write("out")
            error.write("err")
            try loop.run()
            #expect(loop.simulatedOutput.read() == Data("out".utf8))
            #expect(loop.simulatedError.read() == Data("err".utf8))
            for stream in [input, output, error] { try loop.run(until: stream.close()) }
            try loop.run()
            #expect(loop.statistics.handles == 0)
        }
    }

    @Test("each stream goes one way, and none is a terminal")
    func ways() throws {
        try withLoop { loop in
            let (input, output) = (try loop.standardInput(), try loop.standardOutput())
            #expect(error(input.write("x"), loop) as? StreamError == .notWritable)
            #expect(error(output.read(), loop) as? StreamError == .notReadable)
            #expect(
                throws: FutureError.invalidArgument("windowSize needs a terminal, not a pipe")
            ) { try output.windowSize }
            for stream in [input, output] { try loop.run(until: stream.close()) }
            try loop.run()
        }
    }

    @Test("the line of a stream says what it does")
    func description() throws {
        try withLoop { loop in
            let (input, output) = (try loop.standardInput(), try loop.standardOutput())
            loop.simulatedOutput.capacity = 1
            let (read, written) = (input.read(), output.write("four"))
            loop.advance(by: .zero)
            for line in ["standard input, reading", "standard output, 3 bytes unsent"] {
                #expect(loop.dump().contains(line), "\(loop.dump())")
            }
            output.abort()
            #expect(loop.dump().contains("standard output, 0 bytes unsent, closing"))
            input.abort()
            for failure in [error(read, loop), error(written, loop)] { #expect(failure is StreamError) }
            try loop.run()
        }
    }

    @Test("one stream at a time in a process, whichever of its loops has it, and it can be opened again")
    func oneAtATime() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a")
        let other = host.makeLoop()
        let names = ["standard input", "standard output", "standard error"]
        func open(_ number: Int, _ loop: EventLoop) throws -> DescriptorStream {
            switch number {
            case 0: try loop.standardInput()
            case 1: try loop.standardOutput()
            default: try loop.standardError()
            }
        }
        for (number, name) in names.enumerated() {
            let stream = try open(number, host.loop)
            let text = "\(name) is in use as a stream already; use that, or close it first"
            #expect(throws: FutureError.invalidArgument(text)) { try open(number, other) }
            try world.run(until: stream.close())
            try world.run(for: .zero)
            let again = try open(number, other)
            again.abort()
            try world.run(for: .zero)
        }
        var limits = StreamLimits()
        limits.readHighWaterMark = -1
        #expect(throws: FutureError.self) { try host.loop.standardInput(limits: limits) }
        host.maxDescriptors = 0
        let error = #expect(throws: SystemError.self) { try host.loop.standardInput() }
        #expect("\(error!)" == "adopt EMFILE: too many open files")
        host.maxDescriptors = 1
        let loop = host.loop
        try world.run(until: loop.standardInput().close())
        host.crash()
        #expect(throws: FutureError.shutDown) { try loop.standardInput() }
    }

    @Test("what a closed stream has not read is there for the next one")
    func leftOver() throws {
        try withLoop { loop in
            var limits = StreamLimits()
            (limits.readHighWaterMark, limits.readLowWaterMark) = (1, 0)
            let first = try loop.standardInput(limits: limits)
            loop.simulatedInput.write(Data(repeating: 1, count: 100_000))
            let got = try loop.run(until: first.read())
            try loop.run(until: first.close())
            try loop.run()
            #expect(loop.simulatedInput.unreadBytes == 100_000 - got.count)
            #expect(got.count <= 65_536)
            let second = try loop.standardInput()
            loop.simulatedInput.end()
            #expect(try loop.run(until: second.readToEnd()).count == 100_000 - got.count)
            try loop.run(until: second.close())
            try loop.run()
        }
    }

    @Test("input waits in the pipe while the program does not read")
    func inputBackPressure() throws {
        let world = World(seed: 1)
        var input: DescriptorStream!
        let host = try world.addHost("a") { host in input = try host.loop.standardInput() }
        for _ in 0..<100 { host.standardInput.write(Data(count: 10_000)) }
        let first = try world.run(until: input.read())
        try world.run(for: .seconds(1))
        let ahead = 1_000_000 - host.standardInput.unreadBytes
        #expect(ahead >= first.count && ahead <= first.count + StreamLimits().readHighWaterMark + 65_536)
        host.standardInput.end()
        #expect(try world.run(until: input.readToEnd()).count == 1_000_000 - first.count)
    }

    @Test("output waits when the pipe is full, goes on as it is read, and gives up when nobody does")
    func outputBackPressure() throws {
        let world = World(seed: 1)
        var output: DescriptorStream!
        let host = try world.addHost("a") { host in
            host.standardOutput.capacity = 65_536
            #expect(host.standardOutput.capacity == 65_536)
            output = try host.loop.standardOutput()
        }
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let written = output.write(bytes)
        try world.run(for: .seconds(1))
        #expect(!written.isCompleted)
        #expect(host.standardOutput.unread.count == 65_536)
        var got = Data()
        while got.count < bytes.count {
            got += host.standardOutput.read()
            try world.run(for: .seconds(1))
        }
        #expect(got == bytes)
        try world.run(until: written)
        host.standardOutput.capacity = 1
        let waiting = output.write("more")
        let start = world.now
        let failure = world.failure(of: waiting)
        #expect(failure.contains("the peer took nothing for 30.0 seconds"), "\(failure)")
        #expect(world.now - start >= .seconds(30) && world.now - start < .seconds(60))
        #expect(host.standardOutput.read() == Data("m".utf8))
    }

    @Test("a write to an output that nobody reads any more fails, and one after the end goes nowhere")
    func readerGone() throws {
        try withLoop { loop in
            loop.simulatedOutput.capacity = 2
            let output = try loop.standardOutput()
            let waiting = output.write("four")
            loop.simulatedOutput.close()
            #expect("\(error(waiting, loop)!)" == "write EPIPE: broken pipe")
            let errors = try loop.standardError()
            errors.write("last")
            try loop.run(until: errors.shutdownWrite())
            #expect(loop.simulatedError.hasEnded)
            try loop.run(until: errors.close())
            try loop.run()
            let again = try loop.standardError()
            try loop.run(until: again.write("nothing"))
            #expect(loop.simulatedError.readLines() == ["last"])
            try loop.run(until: again.close())
            try loop.run()
        }
    }

    @Test("a program that has ended leaves what it wrote, and its successor has streams of its own")
    func restarted() throws {
        let world = World(seed: 1)
        let host = try world.addHost("a") { host in
            let output = try host.loop.standardOutput()
            output.write("start \(host.startCount)\n")
            let input = try host.loop.standardInput()
            input.forEachChunk { chunk in output.write(chunk) }.ignoreFailure()
        }
        host.standardInput.write("x")
        try world.run(for: .seconds(1))
        let (input, output) = (host.standardInput, host.standardOutput)
        host.pause()
        input.write("never read")
        try world.run(for: .seconds(1))
        #expect(input.unreadBytes == 10)
        for end in [host.crash, host.kill] {
            end()
            #expect(host.standardOutput.hasEnded)
            #expect(!host.standardInput.write("x"))
        }
        #expect(output.readLines() == ["start 1", "x"])
        host.restart()
        try world.run(for: .seconds(1))
        #expect(host.standardInput.unreadBytes == 0)
        #expect(host.standardOutput.readLines() == ["start 2"])
        #expect(!host.standardOutput.hasEnded && output.readLine() == nil)
    }

    @Test("what goes through the streams is a part of the trace")
    func traced() throws {
        func trace(of text: String) throws -> (UInt64, [String]) {
            let world = World(seed: 1)
            world.keepsTrace = true
            let host = try world.addHost("a", awaiting: Self.lineCounter)
            host.standardInput.write(text)
            try world.run(for: .seconds(1))
            return (world.traceHash, world.trace)
        }
        let (hash, lines) = try trace(of: "one\n")
        #expect(try trace(of: "one\n").0 == hash)
        #expect(try trace(of: "two\n").0 != hash)
        #expect(
            lines == [
                "0.000000 s  a reads its standard input: 4 bytes",
                "0.000000 s  a writes its standard output: 2 bytes",
            ])
    }

    enum Misuse: String, CaseIterable, Codable { case realInput, realOutput, noCapacity }

    @Test("a real loop has no simulated streams, and a pipe has room", arguments: Misuse.allCases)
    func traps(misuse: Misuse) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [misuse] in
            switch misuse {
            case .realInput: _ = try EventLoop().simulatedInput
            case .realOutput: _ = try EventLoop().simulatedOutput
            case .noCapacity: EventLoop.virtual().simulatedOutput.capacity = 0
            }
        }
        let sentence =
            switch misuse {
            case .realInput:
                "simulatedInput was read on an event loop of real time; make the loop by EventLoop.virtual()."
            case .realOutput: "simulatedOutput was read on an event loop of real time"
            case .noCapacity: "The capacity of a pipe must be at least 1, not 0."
            }
        expect(sentence, in: result)
    }
}
