import CFuturesSystem
import CLibUV
import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct WholeTests {
    @Test("a file that is longer than the limit is not read, and one of /proc is, although it has no size")
    func limit() throws {
        try withFile { loop, file, path in
            try put("12345", path)
            #expect(try loop.run(until: file.readAll(limit: 5)).text == "12345")
            #expect(
                "\(loop.failure(of: file.readAll(limit: 4))!)".hasSuffix(
                    "read EFBIG: file too large (it has more than 4 bytes; give a higher limit, or read it "
                        + "in parts)"))
            let proc = try loop.run(until: Directory.open("/proc", on: loop))
            #expect(try loop.run(until: proc.contents(of: "self/status")).text.hasPrefix("Name:"))
            #expect(loop.code(of: proc.contents(of: "self/status", limit: 10)) == .fileTooLarge)
            try loop.run(until: proc.close())
        }
    }

    @Test("a write that fails on the way says how many bytes were written")
    func partialWrite() async throws {
        await #expect(processExitsWith: .success) {
            // The system writes up to the limit, and then fails with EFBIG.
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try withFile { (loop, file, _) throws in
                let failure = loop.failure(of: file.write(Data(count: 5000), at: 100)) as? FileError
                #expect(failure?.code == .fileTooLarge && failure?.bytesWritten == 900)
                #expect("\(failure!)".hasSuffix("write EFBIG: file too large; 900 bytes had been written"))
                #expect(loop.code(of: file.append(Data(count: 1))) == .fileTooLarge)
                #expect(try loop.run(until: file.information()).size == 1000)
            }
        }
    }

    @Test("appends of several files do not overwrite each other")
    func appends() throws {
        try withDirectory { loop, directory, path in
            let files = try (0..<4).map { _ in
                try loop.run(until: directory.open("log", .writeOnly, creating: .ifMissing))
            }
            let lines = (0..<400).map { files[$0 % 4].append(Data("line \($0)\n".utf8)) }
            try loop.run(until: Future.all(lines).map { _ in })
            #expect(
                Set(contents(path + "/log")!.split(separator: "\n"))
                    == Set((0..<400).map { Substring("line \($0)") }))
            for file in files { try loop.run(until: file.close()) }
        }
    }
}
