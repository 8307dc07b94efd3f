import CFuturesSystem
import CLibUV
import FoundationEssentials
import Glibc
import Testing
import UVFutures

struct TerminalTests {
    @Test("a terminal comes line by line, in raw mode key by key, and has its mode back in the end")
    func terminal() throws {
        try withTerminal { person, program in
            let shared = dup(program)
            defer { close(shared) }
            let before = mode(shared)
            try withLoop { loop in
                let stream = try DescriptorStream(adopting: program, on: loop)
                #expect(stream.kind == .terminal)
                let line = stream.readLine()
                #expect(unsafe write(person, "a line\n", 7) == 7)
                #expect(try loop.run(until: line) == Data("a line".utf8))
                try stream.setRawMode(true)
                try stream.setRawMode(true)
                #expect(mode(shared).c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
                let key = stream.read()
                #expect(unsafe write(person, "k", 1) == 1)
                #expect(try loop.run(until: key) == Data("k".utf8))
                try stream.setRawMode(false)
                #expect(mode(shared).c_lflag == before.c_lflag)
                try stream.setRawMode(true)
                #expect(!isNonBlocking(shared))
                try loop.run(until: stream.shutdownWrite())
                try loop.run(until: stream.close())
                #expect(throws: StreamError.connectionClosed) { try stream.setRawMode(true) }
            }
            #expect(mode(shared).c_lflag == before.c_lflag && mode(shared).c_iflag == before.c_iflag)
        }
    }

    @Test("a write to the side of a person never makes the loop wait for a program that does not read")
    func person() async {
        await #expect(processExitsWith: .success) {
            // What waits for ever ends the process.
            alarm(20)
            try withTerminal { person, program in
                var raw = mode(program)
                unsafe cfmakeraw(&raw)
                precondition(unsafe tcsetattr(program, TCSANOW, &raw) == 0)
                try withLoop { loop in
                    let console = try DescriptorStream(adopting: dup(person), on: loop)
                    precondition(console.kind == .terminal)
                    #expect(try console.windowSize == .init(columns: 0, rows: 0))
                    let text = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
                    let write = console.write(text)
                    try loop.run(for: .milliseconds(1))
                    precondition(!write.isCompleted)
                    let terminal = try DescriptorStream(adopting: program, on: loop)
                    #expect(try loop.run(until: terminal.read(exactly: text.count)) == text)
                    try loop.run(until: write)
                    terminal.write("answer")
                    #expect(try loop.run(until: console.read()) == Data("answer".utf8))
                    try loop.run(until: terminal.abort())
                    #expect(try loop.run(until: console.readToEnd()).isEmpty)
                    try loop.run(until: console.close())
                }
            }
        }
    }

    @Test("a terminal that does not exist any more has neither mode nor size")
    func gone() async {
        // In a process of its own: programs that other tests start have the other side, too.
        await #expect(processExitsWith: .success) {
            try withTerminal { person, program in
                try withLoop { loop in
                    let stream = try DescriptorStream(adopting: program, on: loop)
                    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
                    dup2(nothing, person)
                    close(nothing)
                    #expect(complaint { try stream.setRawMode(true) } == "terminal mode EIO: i/o error")
                    #expect(complaint { _ = try stream.windowSize } == "window size EIO: i/o error")
                    _ = loop.outcome(of: stream.abort())
                }
            }
        }
    }

    @Test("a terminal says its size; what is none refuses to")
    func windowSize() throws {
        try withTerminal { person, program in
            var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
            #expect(unsafe ioctl(person, UInt(TIOCSWINSZ), &size) == 0)
            try withLoop { loop in
                let stream = try DescriptorStream(adopting: program, on: loop)
                #expect(try stream.windowSize == DescriptorStream.WindowSize(columns: 100, rows: 30))
                try loop.run(until: stream.close())
                let (reading, writing) = try loop.makePipe()
                #expect(
                    complaint { _ = try reading.windowSize }
                        == "windowSize needs a terminal, not a pipe")
                #expect(
                    complaint { try writing.setRawMode(true) }
                        == "setRawMode(_:) needs a terminal, not a pipe")
                reading.abort()
                try loop.run(until: writing.abort())
            }
        }
    }
}
