import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import UVFutures

struct FileTests {
    @Test("positions are written and read, beyond the end too")
    func positions() throws {
        try withFile { loop, file, path in
            try loop.run(until: file.write(Data("world".utf8), at: 6))
            try loop.run(until: file.write(Data("hello ".utf8), at: 0))
            #expect(try loop.run(until: file.read(atMost: 100, at: 0)).text == "hello world")
            #expect(try loop.run(until: file.read(atMost: 4, at: 6)).text == "worl")
            #expect(try loop.run(until: file.read(atMost: 4, at: 11)).isEmpty)
            try loop.run(until: file.append(Data("!".utf8)))
            try loop.run(until: file.truncate(to: 14))
            #expect(try loop.run(until: file.readAll()) == Data("hello world!\0\0".utf8))
            try loop.run(until: file.truncate(to: 5))
            try loop.run(until: file.sync())
            try loop.run(until: file.sync(dataOnly: true))
            try loop.run(until: file.setPermissions(to: 0o600))
            let information = try loop.run(until: file.information())
            #expect(information.size == 5 && information.permissions == 0o600 && information.linkCount == 1)
            #expect(contents(path) == "hello")
            try loop.run(until: file.write(Data(), at: 0))
            try loop.run(until: file.append(Data()))
        }
    }

    @Test("arguments that make no sense are refused with a sentence")
    func arguments() throws {
        try withFile { loop, file, _ in
            func expect<Value>(_ future: Future<Value>, _ text: String) {
                #expect(loop.failure(of: future).map { "\($0)" } == text)
            }
            expect(file.read(atMost: 0, at: 0), "a read of 0 bytes is out of range; give 1 to 1073741824")
            expect(file.read(atMost: 1, at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.write(Data(), at: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.truncate(to: -1), "a position of -1 in a file is negative; give zero or more")
            expect(file.readAll(limit: -1), "a limit of -1 bytes is negative; give zero or more")
            expect(
                file.setPermissions(to: 0o10000), "permissions of 0o10000 make no sense; give 0o000 to 0o7777")
        }
    }

    @Test("a file that is longer than the limit is not read, and one of /proc is, although it has no size")
    func limit() throws {
        try withFile { loop, file, path in
            try put("12345", path)
            #expect(try loop.run(until: file.readAll(limit: 5)).text == "12345")
            #expect(
                "\(loop.failure(of: file.readAll(limit: 4))!)".hasSuffix(
                    "read EFBIG: file too large (it has more than 4 bytes, the limit; give a higher one, or read it in "
                        + "parts)"))
            let proc = try loop.run(until: Directory.open("/proc", on: loop))
            #expect(try loop.run(until: proc.contents(of: "self/status")).text.hasPrefix("Name:"))
            #expect(loop.code(of: proc.contents(of: "self/status", limit: 10)) == .fileTooLarge)
            try loop.run(until: proc.close())
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

    @Test("a write that fails on the way says how many bytes were written")
    func partialWrite() async throws {
        await #expect(processExitsWith: .success) {
            // The system writes up to the limit, and then fails with EFBIG.
            _ = unsafe signal(SIGXFSZ, SIG_IGN)
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

    @Test("a file that is dropped is closed, also with an operation under way, and one opened for nobody, too")
    func dropped() async {
        await #expect(processExitsWith: .success) {
            try EventLoop().shutdown()
            try withDirectory { loop, directory, path in
                try put(String(repeating: "x", count: 100_000), path + "/a")
                _ = try loop.run(until: directory.contents(of: "a"))
                let before = openDescriptors()
                for _ in 0..<100 {
                    let file = try loop.run(until: directory.open("a"))
                    _ = file.read(atMost: 100_000, at: 0)
                    directory.open("a").cancel()
                    _ = directory.open("a")
                    _ = Directory.open(path, on: loop)
                }
                try loop.run()
                #expect(loop.statistics.files == 1)
                #expect(eventually { openDescriptors().isSubset(of: before) })
            }
        }
    }

    @Test("cancelling frees who waits; what a thread has not begun does not run")
    func cancels() async {
        // In a process of its own, since it holds all threads of the pool.
        await #expect(processExitsWith: .success) {
            try withFile { loop, file, path in
                let gate = DispatchSemaphore(value: 0)
                let started = Counter()
                let held = (0..<RemoteContext.files.limit!).map { _ in
                    RemoteContext.files.execute(on: loop) {
                        started.add(1)
                        gate.wait()
                    }
                }
                try loop.runUntil { started.value == held.count }
                let write = file.write(Data("no".utf8), at: 0)
                #expect(loop.statistics.fileOperations == 1)
                #expect(write.cancel())
                #expect(loop.outcome(of: write).isCancellation)
                #expect(loop.statistics.fileOperations == 0)
                for _ in held { gate.signal() }
                try loop.run(until: Future.all(held).map { _ in })
                #expect(try loop.run(until: file.readAll()).isEmpty)
            }
        }
    }

    @Test("an operation keeps the loop running until it has ended, and an open file does not")
    func keepsAlive() throws {
        try withFile { loop, file, path in
            try loop.run()
            var written = false
            file.write(Data("x".utf8), at: 0).whenSuccess { written = true }
            try loop.run()
            #expect(written)
        }
    }

    @Test("the end of the loop fails what waits, and waits for no disk")
    func shutdown() throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let loop = try EventLoop()
        let directory = try loop.run(until: Directory.open(path, on: loop))
        let gate = DispatchSemaphore(value: 0)
        let started = Counter()
        let held = RemoteContext.files.execute(on: loop) {
            started.add(1)
            gate.wait()
        }
        #expect(eventually { started.value == 1 })
        let made = directory.makeDirectory("a")
        loop.shutdown()
        gate.signal()
        for result in [held.result, made.result, directory.sync().result] {
            guard case .failure(FutureError.shutDown)? = result else {
                Issue.record("\(String(describing: result))")
                continue
            }
        }
        directory.close().ignoreFailure()
        Directory.open(path, on: loop).ignoreFailure()
    }
}

/// Runs `body` with an empty file that is open for reading and writing, and with its path.
func withFile(_ body: (EventLoop, File, String) throws -> Void) throws {
    try withDirectory { loop, directory, path in
        let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
        try body(loop, file, path + "/a")
        try loop.run(until: file.close())
    }
}
