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

struct FileOperationsTests {
    @Test(
        "a file that is dropped is closed, also with an operation under way, and one opened for nobody, too")
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

    @Test("a file is not closed while an operation uses it")
    func closesWhenUnused() throws {
        try withFile { loop, file, path in
            try put("hello", path)
            let gate = DispatchSemaphore(value: 0)
            defer { gate.signal() }
            let read = file.operations.run("read") { handle in
                gate.wait()
                return try handle.read(5, at: 0)
            }
            let closed = file.close()
            // What has been asked for before has its turn before.
            for _ in 0..<3 { try loop.run(until: RemoteContext.files.execute(on: loop) {}) }
            #expect(closed.result == nil)
            gate.signal()
            #expect(try loop.run(until: read).text == "hello")
            try loop.run(until: closed)
        }
    }

    @Test("operations after close are refused, those before it end, and all closes have one outcome")
    func closes() throws {
        try withDirectory { loop, directory, path in
            try put("hello", path + "/a")
            let file = try loop.run(until: directory.open("a"))
            #expect(file.isOpen)
            let fileCloses = file.close()
            #expect(!file.isOpen)
            try loop.run(until: fileCloses)
            let other = try loop.run(until: Directory.open(path, on: loop))
            let reads = (0..<20).map { _ in other.contents(of: "a") }
            let closes = [other.close(), other.close()]
            #expect(!other.isOpen && directory.isOpen)
            #expect(closes[0].cancel())
            for read in reads { #expect(try loop.run(until: read).text == "hello") }
            try loop.run(until: closes[1])
            #expect(
                "\(loop.failure(of: other.open("a"))!)"
                    == "the directory \(path) has been closed, or was dropped")
            try loop.run(until: other.close())
        }
    }

    @Test("a snapshot calls the close of a file that is in use by the name of the file")
    func nameOfClose() throws {
        try withFile { loop, file, _ in
            loop.isTraced = true
            let gate = DispatchSemaphore(value: 0)
            let read = file.operations.run("read") { _ in gate.wait() }
            let waiting = Future(on: loop) { try await file.close().value }
            try loop.run(until: loop.submit {})
            #expect(loop.dump().contains("for the close of \(file)"), "\(loop.dump())")
            gate.signal()
            try loop.run(until: read.and(waiting).map { _ in })
        }
    }

    @Test("a file that is closed again by an observer of its end is closed once, when it is not in use")
    func closesAgain() throws {
        try withFile { loop, file, _ in
            let gate = DispatchSemaphore(value: 0)
            let read = file.operations.run("read") { _ in gate.wait() }
            var again: Future<Void>?
            loop.observe { if case .closed = $0, again == nil { again = file.close() } }
            let closed = file.close()
            #expect(again?.isCompleted == false)
            gate.signal()
            try loop.run(until: read.and(closed).map { _ in })
            try loop.run(until: #require(again))
        }
    }
}
