import CLibUV
import Foundation
import Glibc
import Testing
@testable import UVFutures

struct ConfigurationTests {
    @Test("a program gets its arguments and the name that it is given, and nothing is interpreted")
    func arguments() throws {
        try withLoop { loop throws in
            let script = "printf '%s\\n' \"$0\" \"$@\""
            let odd = ["a b", "$HOME", "*", "", "ü", "'\"'"]
            var configuration = ChildProcess.Configuration("/bin/sh", arguments: ["-c", script, "me"] + odd)
            let outcome = try loop.run(until: ChildProcess.run(configuration, on: loop))
            #expect(
                String(decoding: outcome.standardOutput, as: UTF8.self).split(
                    separator: "\n", omittingEmptySubsequences: false) == ["me"] + odd.map { Substring($0) } + [""])
            configuration = .init("/bin/cat", "/proc/self/cmdline")
            configuration.name = "another"
            #expect(try loop.lines(of: configuration) == ["another\0/proc/self/cmdline\0"])
        }
    }

    @Test("a program gets the variables that it is to have")
    func environment() throws {
        try withLoop { loop throws in
            var env = ChildProcess.Configuration("/usr/bin/env")
            env.environment = .only(["A": "1", "B": "x=y"])
            #expect(try loop.lines(of: env) == ["A=1", "B=x=y"])
            env.environment = .only([:])
            #expect(try loop.lines(of: env) == [])
            let own = try #require(ProcessInfo.processInfo.environment["PATH"])
            env.environment = .inheriting(with: ["UVFUTURES_TEST": "here"])
            let lines = try loop.lines(of: env)
            #expect(lines.contains("UVFUTURES_TEST=here") && lines.contains("PATH=\(own)"))
            env.environment = .inherited
            #expect(try loop.lines(of: env).contains("PATH=\(own)"))
        }
    }

    @Test("a name without a slash is looked for in the PATH that the program gets")
    func search() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                let script = "\(directory)/uvfutures-program"
                #expect(FileManager.default.createFile(atPath: script, contents: Data("#!/bin/sh\necho found\n".utf8)))
                var configuration = ChildProcess.Configuration("uvfutures-program")
                configuration.environment = .only(["PATH": "/nowhere:\(directory)"])
                // It is there, and cannot be executed.
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start uvfutures-program: it cannot be executed: EACCES, permission denied; see that it "
                        + "is a file, and that its user may execute it")
                unsafe chmod(script, 0o755)
                #expect(try loop.lines(of: configuration) == ["found"])
                configuration.environment = .only(["PATH": ""])
                configuration.workingDirectory = directory
                #expect(try loop.lines(of: configuration) == ["found"])
                configuration.environment = .only(["PATH": "/nowhere"])
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start uvfutures-program: it cannot be executed: ENOENT, no such file or directory; give "
                        + "its path, or a PATH that has it")
            }
        }
    }

    @Test("a program begins in its directory, and makes files with its mask")
    func directory() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                var configuration = shell("pwd -P; umask")
                configuration.workingDirectory = directory
                configuration.fileMask = 0o027
                #expect(try loop.lines(of: configuration) == [directory, "0027"])
                configuration.workingDirectory = "\(directory)/gone"
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start /bin/sh: its working directory \(directory)/gone cannot be entered: ENOENT, no "
                        + "such file or directory; make it, or give another")
            }
        }
    }

    @Test("a program inherits the descriptors that it is to have, by their numbers, and no other")
    func descriptors() throws {
        try withLoop { loop throws in
            // Open, and inherited by whatever does not close it.
            let stray = fcntl(0, F_DUPFD, 50)
            defer { close(stray) }
            let (first, second) = (try file(Array("first".utf8)), try file(Array("second".utf8)))
            defer {
                close(first)
                close(second)
            }
            // ls has one more open, the lowest that is free.
            var ls = ChildProcess.Configuration("ls", "/proc/self/fd")
            #expect(try loop.lines(of: ls) == ["0", "1", "2", "3"])
            ls.descriptors = [7: first, 5: second, 900: second]
            #expect(Set(try loop.lines(of: ls)) == ["0", "1", "2", "3", "5", "7", "900"])
            // Those that the numbers in this process stand for change places.
            var both = shell("cat /dev/fd/\(first) /dev/fd/\(second)")
            both.descriptors = [first: second, second: first]
            #expect(try loop.lines(of: both) == ["secondfirst"])
            both = shell("cat <&3; cat <&4")
            both.descriptors = [3: first, 4: first]
            lseek(first, 0, SEEK_SET)
            #expect(try loop.lines(of: both) == ["first"])
        }
    }

    @Test("the standard streams are files, descriptors, each other, or nothing")
    func streams() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                let (input, output) = ("\(directory)/input", "\(directory)/output")
                #expect(FileManager.default.createFile(atPath: input, contents: Data("input\n".utf8)))
                var configuration = shell("cat; echo error >&2")
                configuration.standardInput = .file(input)
                configuration.standardOutput = .file(output, appending: false)
                configuration.standardError = .standardOutput
                for isFirst in [true, false] {
                    #expect(try loop.exit(of: configuration).isSuccess)
                    let text = isFirst ? "input\nerror\n" : "input\nerror\ninput\nerror\n"
                    #expect(FileManager.default.contents(atPath: output) == Data(text.utf8))
                    configuration.standardOutput = .file(output, appending: true)
                }
                configuration.standardOutput = .file(output, appending: false)
                let descriptor = unsafe open(input, O_RDONLY | O_CLOEXEC)
                configuration.standardInput = .descriptor(descriptor)
                configuration.standardError = .null
                #expect(try loop.exit(of: configuration).isSuccess)
                #expect(close(descriptor) == 0)
                #expect(FileManager.default.contents(atPath: output) == Data("input\n".utf8))
                configuration.standardInput = .file("\(directory)/none")
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start /bin/sh: \(directory)/none cannot be opened: ENOENT, no such file or directory; "
                        + "see that it is there and may be used")
                // Nobody has the other end open, and the loop does not wait for that.
                unsafe mkfifo("\(directory)/fifo", 0o600)
                configuration.standardInput = .null
                configuration.standardOutput = .file("\(directory)/fifo", appending: true)
                #expect(complaint { _ = try ChildProcess.start(configuration, on: loop) }?.contains("ENXIO") == true)
            }
        }
    }

    @Test("a program begins with signals as if nobody had touched them")
    func signals() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_IGN)
            signal(SIGUSR1) { _ in }
            var mask = sigset_t()
            unsafe sigfillset(&mask)
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
            try withLoop { loop throws in
                let lines = try loop.lines(of: .init("grep", "^Sig[BIC]", "/proc/self/status"))
                #expect(lines.count == 3 && lines.allSatisfy { $0.hasSuffix("\t0000000000000000") }, "\(lines)")
            }
            var after = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
            #expect(unsafe sigismember(&after, SIGUSR2) == 1)
            #expect(effect(of: SIGHUP).handler == 1 && effect(of: SIGUSR1).handler > 1)
        }
    }

    @Test("limits hold for the program, and one that cannot be had is named")
    func limits() throws {
        try withLoop { loop throws in
            var configuration = shell("ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -f")
            configuration.limits = [
                .openFiles: .init(soft: 64, hard: 100), .coreSize: .init(0), .fileSize: .init(1 << 20),
            ]
            #expect(try loop.lines(of: configuration) == ["64", "100", "0", "2048"])
            // Killed before it has run a line of its own.
            var tiny = ChildProcess.Configuration("true")
            tiny.limits[.addressSpace] = .init(4096)
            let exit = try loop.exit(of: tiny)
            guard case .signal = exit else {
                Issue.record("\(exit)")
                return
            }
            var processor = shell("while :; do :; done")
            processor.limits[.processorTime] = .init(1)
            #expect(try loop.exit(of: processor) == .signal(.kill, coreDumped: false))
            configuration.limits = [.openFiles: .init(soft: 2, hard: 1)]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }
                    == "a limit of openFiles of 2 is above its own maximum of 1; give less")
            configuration.limits = [.openFiles: .unlimited]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }
                    == "cannot start /bin/sh: its limit of openFiles cannot be set: EPERM, operation not permitted; ask for "
                    + "less, or run with more rights")
            configuration.limits = [:]
            configuration.descriptors = [1_000_000_000: 0]
            #expect(
                complaint { _ = try ChildProcess.start(configuration, on: loop) }?
                    .hasPrefix("cannot start /bin/sh: descriptor 0 cannot be passed on: EINVAL") == true)
        }
    }

    @Test("a program runs as another user with its groups, and the parent stays who and what it is")
    func user() throws {
        try withLoop { loop throws in
            var configuration = shell("id -u; id -g; id -G")
            configuration.user = .init(id: 65_534, group: 65_533, supplementaryGroups: [65_533, 1234])
            guard geteuid() == 0 else {
                let error = complaint { _ = try ChildProcess.start(configuration, on: loop) }
                #expect(error?.contains("its supplementary groups cannot be set: EPERM") == true)
                return
            }
            #expect(is_dumpable())
            #expect(try loop.lines(of: configuration) == ["65534", "65533", "65533 1234"])
            #expect(geteuid() == 0)
            #expect(is_dumpable())
            // The directory is entered as that user.
            try withDirectory { directory throws in
                unsafe chmod(directory, 0o700)
                configuration.workingDirectory = directory
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }?
                        .contains("cannot be entered: EACCES") == true)
            }
        }
    }

    @Test("what makes no sense is refused before anything is started")
    func nonsense() throws {
        try withLoop { loop throws in
            func refusal(_ program: String = "true", _ change: (inout ChildProcess.Configuration) -> Void = { _ in }) -> String?
            {
                var configuration = ChildProcess.Configuration(program)
                change(&configuration)
                return complaint { _ = try ChildProcess.start(configuration, on: loop) }
            }
            #expect(refusal("") == "the program has no name; give its path, or its name in PATH")
            let nul = "a text for true contains a NUL, at which it would end there: \"a\\0b\"; leave it out"
            #expect(refusal { $0.arguments = ["a\0b"] } == nul)
            #expect(refusal { $0.workingDirectory = "a\0b" } == nul)
            #expect(refusal { $0.name = "a\0b" } == nul)
            #expect(refusal { $0.standardInput = .file("a\0b") } == nul)
            #expect(refusal { $0.environment = .only(["A": "a\0b"]) } == nul)
            #expect(
                refusal { $0.environment = .inheriting(with: ["A=B": "x"]) }
                    == "an environment variable cannot be called \"A=B\"; give a name without =")
            #expect(
                refusal { $0.descriptors = [2: 2] }
                    == "descriptor 2 of a child was given among others; give 3 or more, or set its standard streams")
            #expect(
                refusal { $0.standardOutput = .standardOutput }
                    == "the standard output cannot go where it goes itself; give a place")
            #expect(
                refusal {
                    $0.terminal = .init(columns: 80, rows: 24)
                    $0.standardInput = .stream
                }
                    == "true has a terminal as its standard streams; leave them as they are, or leave the terminal out")
            #expect(
                refusal { $0.terminal = .init(columns: 80, rows: 65_536) }
                    == "a window of 80 by 65536 is out of range; give 0 to 65535 of both")
            #expect(refusal { $0.streamLimits.readHighWaterMark = 0 }?.hasPrefix("read water marks") == true)
            #expect(
                refusal { $0.descriptors = [3: 100_000] }
                    == "cannot start true: descriptor 100000 is not open: EBADF, bad file descriptor; open it first, or "
                    + "give the child something else")
        }
    }

    @Test("what is no program is refused by its kind")
    func noPrograms() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                func refusal(_ program: String) -> String? {
                    complaint { _ = try ChildProcess.start(.init(program), on: loop) }
                }
                #expect(
                    refusal("/nowhere/true")
                        == "cannot start /nowhere/true: it cannot be executed: ENOENT, no such file or directory; see that "
                        + "it is there, and the interpreter that its first line names")
                #expect(
                    refusal(directory)
                        == "cannot start \(directory): it cannot be executed: EACCES, permission denied; see that it is a "
                        + "file, and that its user may execute it")
                let text = "\(directory)/text"
                #expect(FileManager.default.createFile(atPath: text, contents: Data("text".utf8)))
                unsafe chmod(text, 0o755)
                #expect(
                    refusal(text)
                        == "cannot start \(text): it cannot be executed: ENOEXEC, exec format error; give a program of this "
                        + "machine, or a script whose first line names its interpreter")
                do {
                    _ = try ChildProcess.start(.init(text), on: loop)
                } catch let error as ProcessError {
                    #expect(error.step == .execute && error.code.name == "ENOEXEC" && error.program == text)
                }
                var long = ChildProcess.Configuration("true")
                long.arguments = [String(repeating: "x", count: 3 << 20)]
                #expect(
                    complaint { _ = try ChildProcess.start(long, on: loop) }
                        == "cannot start true: it cannot be executed: E2BIG, argument list too long; give it fewer or shorter "
                        + "arguments and variables")
            }
        }
    }

    @Test("without descriptors or processes, the error says what is lacking, and nothing is left")
    func shortages() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.exit(of: .init("true"))
                let before = openDescriptors()
                var limit = rlimit()
                unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let usual = limit
                for free in 0..<6 {
                    // So many numbers are free below the limit.
                    limit.rlim_cur = rlim_t((0..<CInt.max).lazy.filter { !isOpen($0) }.prefix(free + 1).last!)
                    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    var cat = ChildProcess.Configuration("cat")
                    (cat.standardInput, cat.standardOutput, cat.standardError) = (.stream, .stream, .stream)
                    let error = complaint { _ = try ChildProcess.start(cat, on: loop) }
                    #expect(error?.contains("a pipe for its standard") == true)
                    #expect(error?.contains("EMFILE, too many open files; Raise the limit") == true, "\(error ?? "")")
                    try loop.run()
                    #expect(openDescriptors() == before)
                }
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), [usual])
            }
        }
    }

    @Test("a closed standard stream is an error, or is not inherited")
    func closedStream() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                close(0)
                var cat = ChildProcess.Configuration("cat")
                cat.standardInput = .inherited
                #expect(
                    complaint { _ = try ChildProcess.start(cat, on: loop) }
                        == "cannot start cat: standard input is not open: EBADF, bad file descriptor; open it first, or give "
                        + "the child something else")
                // The numbers that are free are not given to what the loop needs.
                for _ in 0..<3 {
                    let outcome = ChildProcess.run(.init("cat"), input: Data("hello".utf8), on: loop)
                    #expect(try loop.run(until: outcome).standardOutput == Data("hello".utf8))
                }
                #expect(fcntl(0, F_GETFD) < 0)
            }
        }
    }
}

/// Runs `body` with the path of a new directory, which is removed afterwards.
func withDirectory(_ body: (String) throws -> Void) throws {
    let path = "/tmp/uvfutures-\(UInt64.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
}
