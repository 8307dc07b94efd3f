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
                #expect(Self.isNonBlocking(here) == isSocket)
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

    @Test("a socket has its mode back when the process ends without a close")
    func modeAtExit() async {
        await #expect(processExitsWith: .success) {
            let (here, _) = Self.ends(ofSocket: true)
            dup2(here, 0)
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
}
