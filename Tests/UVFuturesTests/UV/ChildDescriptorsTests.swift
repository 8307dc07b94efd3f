import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import TestSupport
import Testing
import UVFutures

struct ChildDescriptorsTests {
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
                        + "make sure that it exists and may be used")
                // Nobody has the other end open, and the loop does not wait for that.
                unsafe mkfifo("\(directory)/fifo", 0o600)
                configuration.standardInput = .null
                configuration.standardOutput = .file("\(directory)/fifo", appending: true)
                #expect(
                    complaint { _ = try ChildProcess.start(configuration, on: loop) }?.contains("ENXIO")
                        == true)
            }
        }
    }

    @Test("without descriptors or processes, the error says what is lacking, and nothing is left")
    func shortages() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.exit(of: .init("true"))
                try loop.run()
                let before = descriptorsInUse()
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
                    #expect(
                        error?.contains("EMFILE, too many open files; Raise the limit") == true,
                        "\(error ?? "")")
                    try loop.run()
                    expectNoMore(than: before)
                }
                unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), [usual])
            }
        }
    }

    @Test("a closed standard stream is an error, or is not inherited")
    func closedStream() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop throws in
                _ = try loop.run(until: ChildProcess.run(.init("cat"), on: loop))
                var cat = ChildProcess.Configuration("cat")
                cat.standardInput = .inherited
                // Another thread may take the number at any time.
                #expect(
                    eventually {
                        close(0)
                        return complaint { _ = try ChildProcess.start(cat, on: loop) }
                            == "cannot start cat: standard input is not open: EBADF, bad file descriptor; open it first, "
                            + "or give the child something else"
                    })
                // The numbers that are free are not given to what the loop needs: libuv never closes them.
                for _ in 0..<3 {
                    for number: CInt in 0...2 { close(number) }
                    (cat.standardInput, cat.standardOutput) = (.stream, .stream)
                    cat.standardError = .standardOutput
                    let child = try ChildProcess.start(cat, on: loop)
                    #expect(
                        (0...2).allSatisfy { !["pipe:", "[pidfd]"].contains(where: links([$0]).contains) })
                    child.standardInput!.write("hello")
                    child.standardInput!.shutdownWrite()
                    #expect(try loop.run(until: child.standardOutput!.readToEnd()) == Data("hello".utf8))
                    #expect(try loop.run(until: child.exit).isSuccess)
                }
            }
        }
    }
}
