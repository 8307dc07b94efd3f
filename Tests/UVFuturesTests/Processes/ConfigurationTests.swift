import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Testing
import UVFutures

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
                    separator: "\n", omittingEmptySubsequences: false) == ["me"] + odd.map { Substring($0) }
                    + [""])
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
            env.environment = .inheriting(with: ["PATH": "/nowhere"])
            #expect(try loop.lines(of: env).filter { $0.hasPrefix("PATH=") } == ["PATH=/nowhere"])
            env.environment = .inherited
            #expect(try loop.lines(of: env).contains("PATH=\(own)"))
        }
    }

    @Test("a program inherits variables and finds programs byte for byte, as from a shell")
    func environmentBytes() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                try withDirectory { directory throws in
                    let odd: [CChar] = [0x61, CChar(bitPattern: 0xE4), CChar(bitPattern: 0xFF), 0]
                    unsafe setenv("UVFUTURES_ODD", odd, 1)
                    for environment in [.inherited, .inheriting(with: ["UVFUTURES_OTHER": "ü"])]
                        as [ChildProcess.Environment]
                    {
                        var printenv = ChildProcess.Configuration("printenv", "UVFUTURES_ODD")
                        printenv.environment = environment
                        let outcome = try loop.run(until: ChildProcess.run(printenv, on: loop))
                        #expect([UInt8](outcome.standardOutput) == [0x61, 0xE4, 0xFF, 0x0A])
                    }
                    let path = directory.utf8CString.dropLast() + [0x2F] + odd
                    #expect(unsafe mkdir(Array(path), 0o700) == 0)
                    try loop.makeProgram(
                        "#!/bin/sh\necho found\n",
                        at: "\(directory)/$(printf \"a\\344\\377\")/uvfutures-program")
                    let search = path.dropLast() + ":/usr/bin:/bin".utf8CString
                    unsafe setenv("PATH", Array(search), 1)
                    #expect(try loop.lines(of: .init("uvfutures-program")) == ["found"])
                }
            }
        }
    }

    @Test("a name without a slash is looked for in the PATH that the program gets")
    func search() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                let script = "\(directory)/uvfutures-program"
                try loop.makeProgram("#!/bin/sh\necho found\n", at: script)
                unsafe chmod(script, 0o644)
                var configuration = ChildProcess.Configuration("uvfutures-program")
                configuration.environment = .only(["PATH": "/nowhere:\(directory)"])
                // It is there, and cannot be executed.
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start uvfutures-program: it cannot be executed: EACCES, permission denied; "
                        + "make sure that it is a file, and that its user may execute it")
                unsafe chmod(script, 0o755)
                #expect(try loop.lines(of: configuration) == ["found"])
                configuration.environment = .only(["PATH": ""])
                configuration.workingDirectory = directory
                #expect(try loop.lines(of: configuration) == ["found"])
                configuration.environment = .only(["PATH": "/nowhere"])
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }
                        == "cannot start uvfutures-program: it cannot be executed: ENOENT, no such file or directory; "
                        + "give its path, or a PATH that contains it")
            }
            // Without a PATH, the system's own places.
            var env = ChildProcess.Configuration("env")
            env.environment = .only(["A": "1"])
            #expect(try loop.lines(of: env) == ["A=1"])
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

    @Test("a program reads a descriptor of this process, which shares its place in the file, and stays open")
    func inputDescriptor() throws {
        try withLoop { loop throws in
            try withDirectory { directory throws in
                try put("one two", directory + "/file")
                let descriptor = unsafe open(directory + "/file", O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                #expect(lseek(descriptor, 4, SEEK_SET) == 4)
                var cat = ChildProcess.Configuration("cat")
                cat.standardInput = .descriptor(descriptor)
                #expect(try loop.lines(of: cat) == ["two"])
                #expect(lseek(descriptor, 0, SEEK_CUR) == 7)
            }
        }
    }
}
