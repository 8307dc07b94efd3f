import Dispatch
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct FilesTests {
    @Test("the context has a name and a limit, which can be changed")
    func context() async {
        await #expect(processExitsWith: .success) {
            #expect("\(RemoteContext.files)" == "files" && RemoteContext.files.limit == 4)
            try RemoteContext.files.setLimit(7)
            #expect(FilePool.shared.limit == 7)
            #expect(complaint { try RemoteContext.files.setLimit(0) } != nil)
        }
    }

    @Test("a disk that does not answer delays no name, no timer and none of the host's work")
    func slowDisk() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let (gate, started) = (DispatchSemaphore(value: 0), Counter())
                let held = (0..<4).map { _ in
                    RemoteContext.files.execute(on: loop) {
                        started.add(1)
                        gate.wait()
                    }
                }
                try loop.runUntil { started.value == 4 }
                let waiting = Directory.open("/", on: loop)
                let names = (0..<20).map { _ in SystemResolver.shared.resolve("localhost", port: 80, on: loop)
                }
                let works = (0..<20).map { number in RemoteContext.pool.execute(on: loop) { number } }
                let start = loop.now
                try loop.run(until: loop.sleep(for: .milliseconds(10)))
                #expect(start.duration(to: loop.now) < .seconds(5))
                for name in names { #expect(try !loop.run(until: name).isEmpty) }
                for work in works { _ = try loop.run(until: work) }
                #expect(!waiting.isCompleted && loop.statistics.fileOperations == 1)
                for _ in held { gate.signal() }
                try loop.run(until: Future.all(held).map { _ in })
                try loop.run(until: waiting.flatMap { $0.close() })
            }
        }
    }

    @Test("files work on a loop that a host runs")
    func attached() throws {
        let path = try makeEmptyDirectory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try withHost { (host, loop) throws in
            let contents = Directory.open(path, on: loop).flatMap { directory in
                directory.replace("a", with: Data("hello".utf8)).flatMap { directory.contents(of: "a") }
                    .always { directory.close() }
            }
            #expect(try host.run(until: contents).text == "hello")
        }
    }

    @Test("an observer hears of each file and directory that is opened, and of its end")
    func observed() throws {
        try withDirectory { loop, directory, path in
            let told = Told(by: loop)
            let file = try loop.run(until: directory.open("a", .readWrite, creating: .always))
            try loop.run(until: file.close())
            do { _ = try loop.run(until: directory.openDirectory(".")) }
            #expect(
                told.lines == [
                    "opened file a below \(path)", "closed file a below \(path)",
                    "opened directory \(path)/.", "closed directory \(path)/.",
                ])
        }
    }
}
