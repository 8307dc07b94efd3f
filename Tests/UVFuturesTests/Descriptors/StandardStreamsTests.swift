import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

/// Each in a process of its own, whose standard streams it may replace.
struct StandardStreamsTests {
    /// Two ends of a pipe, or of a connection.
    private static func ends(ofSocket isSocket: Bool) -> (CInt, CInt) {
        var ends: [CInt] = [0, 0]
        let status =
            unsafe isSocket
            ? socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
        precondition(status == 0)
        return (ends[0], ends[1])
    }

    private static func isNonBlocking(_ descriptor: CInt) -> Bool {
        fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0
    }

    private static func send(_ text: String, to descriptor: CInt) {
        precondition(unsafe write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    private static func everything(in descriptor: CInt) -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        var all: [UInt8] = []
        while case let count = unsafe read(descriptor, &bytes, bytes.count), count > 0 {
            all += bytes.prefix(count)
        }
        return String(decoding: all, as: UTF8.self)
    }

    @Test(
        "standard input is read to its end, and whoever shares it finds it in the mode in which it was",
        arguments: [false, true])
    func input(isSocket: Bool) async {
        await #expect(processExitsWith: .success) { [isSocket] in
            let (here, there) = Self.ends(ofSocket: isSocket)
            dup2(here, 0)
            try withLoop { loop in
                let input = try loop.standardInput()
                #expect(input.kind == (isSocket ? .socket : .pipe))
                #expect(!Self.isNonBlocking(here))
                let line = input.readLine()
                Self.send("a line\nand more", to: there)
                #expect(try loop.run(until: line) == Data("a line".utf8))
                close(there)
                #expect(try loop.run(until: input.readToEnd()) == Data("and more".utf8))
                try loop.run(until: input.close())
                try loop.run(until: loop.submit {})
                #expect(!Self.isNonBlocking(here) && fcntl(0, F_GETFD) >= 0)
            }
        }
    }

    @Test("a mode that others choose while a stream is open stays", arguments: [false, true])
    func modeOfOthers(isFile: Bool) async {
        await #expect(processExitsWith: .success) { [isFile] in
            let (here, _) = Self.ends(ofSocket: false)
            dup2(isFile ? try UVFuturesTests.file() : here, 0)
            try withLoop { loop in
                let input = try loop.standardInput()
                _ = fcntl(0, F_SETFL, O_NONBLOCK)
                try loop.run(until: input.close())
                try loop.run(until: loop.submit {})
                #expect(Self.isNonBlocking(0))
            }
        }
    }

    @Test("a device that can wait has its mode back when the process ends without a close")
    func modeAtExit() async {
        await #expect(processExitsWith: .success) {
            dup2(unsafe open("/dev/random", O_RDONLY), 0)
            // What is registered first is called last.
            atexit { if fcntl(0, F_GETFL) & O_NONBLOCK != 0 { _exit(3) } }
            let loop = try EventLoop()
            let input = try loop.standardInput()
            #expect(Self.isNonBlocking(0))
            withExtendedLifetime(input) { exit(0) }
        }
    }

    @Test("standard input may be a file, of which others see how much was read, or /dev/null")
    func files() async {
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/uvfutures-XXXXXX".utf8CString)
            let file = unsafe mkstemp(&template)
            unsafe unlink(template)
            Self.send("0123456789", to: file)
            lseek(file, 4, SEEK_SET)
            dup2(file, 0)
            try withLoop { loop in
                var input = try loop.standardInput()
                #expect(input.kind == .file)
                #expect(try loop.run(until: input.readToEnd()) == Data("456789".utf8))
                #expect(lseek(0, 0, SEEK_CUR) == 10)
                try loop.run(until: input.close())
                try loop.run(until: loop.submit {})
                dup2(unsafe open("/dev/null", O_RDONLY), 0)
                input = try loop.standardInput()
                #expect(try loop.run(until: input.read()).isEmpty)
                #expect(loop.failure(of: input.write("x")) as? StreamError == .notWritable)
                try loop.run(until: input.close())
            }
        }
    }

    @Test(
        "standard output and standard error arrive, and the reader is told the end", arguments: [false, true])
    func output(isSocket: Bool) async {
        await #expect(processExitsWith: .success) { [isSocket] in
            for number: CInt in [1, 2] {
                let original = dup(number)
                let (there, here) = Self.ends(ofSocket: isSocket)
                dup2(here, number)
                close(here)
                try withLoop { loop in
                    let output = try number == 1 ? loop.standardOutput() : loop.standardError()
                    if !isSocket {
                        #expect(loop.failure(of: output.read()) as? StreamError == .notReadable)
                    }
                    output.write("said")
                    try loop.run(until: output.shutdownWrite())
                    #expect(Self.everything(in: there) == "said")
                    try loop.run(until: output.close())
                    #expect(fcntl(number, F_GETFD) >= 0)
                }
                dup2(original, number)
            }
        }
    }

    @Test("printing goes on beside the stream, and after it", arguments: [false, true])
    func printing(isSocket: Bool) async {
        await #expect(processExitsWith: .success) { [isSocket] in
            let (there, here) = Self.ends(ofSocket: isSocket)
            let original = dup(1)
            dup2(here, 1)
            close(here)
            try withLoop { loop in
                let output = try loop.standardOutput()
                try loop.run(until: output.write("one "))
                Self.send("two ", to: 1)
                try loop.run(until: output.close())
                Self.send("three", to: 1)
            }
            dup2(original, 1)
            #expect(Self.everything(in: there) == "one two three")
        }
    }

    @Test("a standard stream that is adopted leaves /dev/null behind, and no number for others")
    func adopted() async {
        await #expect(processExitsWith: .success) {
            let (here, there) = Self.ends(ofSocket: false)
            dup2(here, 0)
            close(here)
            Self.send("text", to: there)
            close(there)
            try withLoop { loop in
                let input = try DescriptorStream(adopting: 0, on: loop)
                #expect(try loop.run(until: input.readToEnd()) == Data("text".utf8))
                #expect(Self.everything(in: 0) == "" && fcntl(0, F_GETFL) & O_ACCMODE == O_RDWR)
                try loop.run(until: input.close())
            }
        }
    }

    @Test("one stream at a time, and none over what is closed")
    func refusals() async {
        await #expect(processExitsWith: .success) {
            let (here, _) = Self.ends(ofSocket: false)
            dup2(here, 0)
            try withLoop { loop in
                func complaint() -> String? {
                    do {
                        _ = try loop.standardInput()
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }
                let input = try loop.standardInput()
                #expect(
                    complaint()
                        == "standard input is in use as a stream already; use that, or close it first")
                try loop.run(until: input.close())
                try loop.run(until: loop.submit {})
                close(0)
                #expect(complaint() == "descriptor 0 is not open; give one that is")
                dup2(here, 0)
                let again = try loop.standardInput()
                try loop.run(until: again.close())
            }
        }
    }

    /// What a descriptor may stand for.
    enum Kind: Int, CaseIterable {
        case pipe, fifo, socket, terminal, file

        /// Opens one, with a byte to read where there can be one.
        func open(in directory: String, writes: Bool) throws -> CInt {
            switch self {
            case .pipe, .socket:
                let (reading, writing) = StandardStreamsTests.ends(ofSocket: self == .socket)
                StandardStreamsTests.send("x", to: writing)
                return writes ? writing : reading
            case .fifo:
                unsafe mkfifo("\(directory)/fifo", 0o600)
                let fifo = unsafe Glibc.open("\(directory)/fifo", O_RDWR)
                StandardStreamsTests.send("x", to: fifo)
                return fifo
            case .terminal:
                var program: CInt = -1
                let person = unsafe open_terminal(&program, 80, 24)
                StandardStreamsTests.send("x\n", to: person)
                return program
            case .file: return unsafe Glibc.open("\(directory)/file", O_RDWR | O_CREAT, 0o600)
            }
        }
    }

    /// What this process does with its standard stream before it starts a child.
    enum Use: Int, CaseIterable { case none, opened, used, closed }

    @Test(
        "a child finds its standard streams in the mode that they had, whatever this process does with them",
        arguments: Kind.allCases)
    func modesOfChildren(kind: Kind) async {
        await #expect(processExitsWith: .success) { [raw = kind.rawValue as Int] in
            let kind = Kind(rawValue: raw)!
            try withLoop { loop throws in
                try withDirectory { directory throws in
                    for number: CInt in 0...2 {
                        for use in Use.allCases {
                            let (original, own) = (
                                dup(number), try kind.open(in: directory, writes: number > 0)
                            )
                            dup2(own, number)
                            let failure = Result { try Self.child(of: loop, number, use, kind) }
                            dup2(original, number)
                            close(own)
                            // The modes of what is inherited, given, and given as a copy: bits that count as one number.
                            #expect(try failure.get() == .code(0), "\(kind), \(number), \(use)")
                        }
                    }
                }
            }
        }
    }

    private static let modes =
        "bit() { f=$(sed -n 's/^flags:[^0-9]*//p' /proc/$$/fdinfo/$1); return $(( (0$f >> 11) & 1 )); }; "
        + "m=0; for n in $N 6 7; do bit $n || m=$n; done; exit $m"

    /// How a child ends that looks at the modes of its descriptors: with the number of one that is non-blocking.
    private static func child(
        of loop: EventLoop, _ number: CInt, _ use: Use, _ kind: Kind
    ) throws -> ChildProcess.Exit {
        var stream: DescriptorStream?
        if use != .none {
            stream =
                try number == 0
                ? loop.standardInput() : number == 1 ? loop.standardOutput() : loop.standardError()
        }
        if use == .used {
            if number > 0 {
                stream?.write("x")
            } else if kind != .file {
                _ = try loop.run(until: stream!.read())
            }
        }
        if use == .closed {
            try loop.run(until: stream!.close())
            try loop.run(until: loop.submit {})
        }
        let copy = dup(number)
        defer { close(copy) }
        var configuration = shell(modes)
        configuration.environment = .inheriting(with: ["N": "\(number)"])
        configuration.standardInput = .inherited
        configuration.descriptors = [6: number, 7: copy]
        let exit = try loop.exit(of: configuration)
        if let stream, stream.isOpen {
            stream.abort()
            try loop.run(until: stream.closed)
            try loop.run(until: loop.submit {})
        }
        return exit
    }

    @Test("a child and its parent write much to the same socket, and wait for its reader")
    func sharedSocket() async {
        await #expect(processExitsWith: .success) {
            let (there, here) = Self.ends(ofSocket: true)
            let original = dup(1)
            dup2(here, 1)
            close(here)
            let count = 1_000_000
            try withLoop { loop throws in
                var counter = ChildProcess.Configuration("wc", "-c")
                (counter.standardInput, counter.standardOutput) = (.descriptor(there), .stream)
                let reader = try ChildProcess.start(counter, on: loop)
                let output = try loop.standardOutput()
                let written = output.write(Data(count: count))
                let child = try ChildProcess.start(.init("head", "-c", "\(count)", "/dev/zero"), on: loop)
                #expect(try loop.run(until: child.exit) == .code(0))
                try loop.run(until: written)
                try loop.run(until: output.shutdownWrite())
                let total = try loop.run(until: reader.standardOutput!.readToEnd())
                #expect(String(decoding: total, as: UTF8.self) == "\(2 * count)\n")
                try loop.run(until: output.close())
            }
            dup2(original, 1)
        }
    }

    @Test(
        "a write to a shared socket whose reader has gone fails by name, and does not wait",
        arguments: [false, true])
    func socketWithoutReader(writesSeveral: Bool) async {
        await #expect(processExitsWith: .success) { [writesSeveral] in
            let (there, here) = Self.ends(ofSocket: true)
            let original = dup(1)
            dup2(here, 1)
            close(here)
            close(there)
            try withLoop { loop in
                let output = try loop.standardOutput()
                // It is a hang that is looked for.
                let data = Data("x".utf8)
                let write = writesSeveral ? output.write([data, data]) : output.write(data)
                let written = write.timeout(after: .seconds(20))
                #expect((loop.failure(of: written) as? SystemError)?.code == .brokenPipe)
                output.abort()
                _ = loop.outcome(of: output.closed)
                try loop.run(until: loop.submit {})
            }
            dup2(original, 1)
        }
    }

    @Test(
        "a shared socket that has reached its end, or taken all that was written, wakes the loop no more",
        arguments: [false, true])
    func quietSocket(writes: Bool) async {
        await #expect(processExitsWith: .success) { [writes] in
            let number: CInt = writes ? 1 : 0
            let (there, here) = Self.ends(ofSocket: true)
            let original = dup(number)
            dup2(here, number)
            close(here)
            try withLoop { loop in
                let peer = try DescriptorStream(adopting: there, on: loop)
                let stream = try writes ? loop.standardOutput() : loop.standardInput()
                if writes {
                    // More than the socket takes at once.
                    let written = stream.write(Data(count: 4_000_000))
                    let count = try loop.run(until: peer.read(exactly: 4_000_000))?.count
                    #expect(count == 4_000_000)
                    try loop.run(until: written)
                } else {
                    peer.shutdownWrite()
                    #expect(try loop.run(until: stream.readToEnd()).isEmpty)
                }
                let before = loop.statistics.turns
                try loop.run(for: .milliseconds(20))
                let turns = loop.statistics.turns - before
                #expect(turns < 20)
                try loop.run(until: stream.close())
                peer.abort()
                _ = loop.outcome(of: peer.closed)
                try loop.run(until: loop.submit {})
            }
            dup2(original, number)
        }
    }
}
