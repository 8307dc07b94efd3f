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

struct FollowedNameTests {
    @Test("only names that a rotation gives are taken for those of former files")
    func names() throws {
        func former(_ name: String, of log: String) throws -> Bool {
            let directory = TemporaryDirectory()
            directory.write(name, "x\n")
            directory.write(log, "y\n")
            let found = try FollowedName(directory.url(log), in: SystemFiles()).newer(than: nil, known: [])
            return found.former.count == 1
        }
        for name in [
            "log.1", "log.10", "log-20261127", "log.2026-11-27", "log_1", "log.old", "log.bak",
            "log.20261127T10",
        ] {
            #expect(try former(name, of: "log"), "\(name)")
        }
        for name in ["app.log.1", "app.1.log", "app-20261127.log", "app-2026-11-27.log"] {
            #expect(try former(name, of: "app.log"), "\(name)")
        }
        for name in ["log.lock", "log1", "log.", "catalog.1", "log.1.tmp", "log.1.gz", "log.conf"] {
            #expect(try !former(name, of: "log"), "\(name)")
        }
        for name in ["app-error.log", "app.log.", "app2.log", "app.log1", "app.1.txt", "app.log.pos"] {
            #expect(try !former(name, of: "app.log"), "\(name)")
        }
    }

    @Test("files that were written and renamed in the same moment are in the order of their numbers")
    func tie() throws {
        var log = FollowedLog()
        for number in [9, 10, 11, 12] { log.directory.write("log.\(number)", "\(number)\n") }
        log.directory.write("log", "end\n")
        let names = ["log.9", "log.10", "log.11", "log.12"]
        // Mostly within one tick of the kernel's clock.
        var areAtOnce = false
        for _ in 0..<10_000 where !areAtOnce {
            for name in names { log.setWritten(name, 1_000_000) }
            var changes: Set<Int> = []
            for name in names {
                var status = stat()
                #expect(unsafe stat(log.directory.url(name), &status) == 0)
                changes.insert(status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec)
            }
            areAtOnce = changes.count == 1
        }
        // Newer file systems give no two changes the same time.
        guard areAtOnce else { return }
        let place = try log.place("log", 0)
        try log.begin(
            from: .position(.init(device: place.device, inode: .max, birth: 0, offset: 5)))
        let texts = try (0..<5).map { _ in try log.look() }
        #expect(texts == ["12\n", "11\n", "10\n", "9\n", "end\n"], "\(texts)")
    }

    @Test("a link is followed, one that leads in a circle is an error, and so is a directory")
    func links() throws {
        let directory = TemporaryDirectory()
        directory.write("log", "x")
        directory.link("relative", to: "log")
        directory.link("absolute", to: directory.url("relative"))
        directory.link("circle", to: "circle")
        func open(_ path: String) throws -> FollowedFiles {
            try FollowedFiles(path, from: .beginning, in: SystemFiles())
        }
        #expect(try open(directory.url("absolute")).position != nil)
        func code(_ path: String) -> SystemError.Code? {
            do { _ = try open(path) } catch { return (error as? SystemError)?.code }
            return nil
        }
        #expect(code(directory.url("circle")) == .tooManyLinks)
        #expect(code(directory.path) == .isDirectory)
        #expect(code(directory.path + "/") == .isDirectory)
        #expect(code(directory.url(String(repeating: "x", count: 300))) == .init(rawValue: -ENAMETOOLONG))
    }

    @Test("a log may be behind 39 links, and its former files are those in the directory of the last one")
    func manyLinks() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("0")
        directory.write("0/log", "new\n")
        directory.write("0/log.1", "old\n")
        directory.write("log.2", "other\n")
        directory.link("1", to: "0/log")
        for number in 2...40 { directory.link("\(number)", to: "\(number - 1)") }
        let name = try FollowedName(directory.url("39"), in: SystemFiles())
        #expect(try name.newer(than: nil, known: []).former.count == 1)
        #expect(throws: SystemError(.tooManyLinks, "open")) {
            try FollowedName(directory.url("40"), in: SystemFiles())
        }
    }

    @Test("an empty file that seems older than the one before it is none that was there before")
    func emptyAndOlder() throws {
        let loop = EventLoop.virtual()
        let (disk, system) = (loop.simulatedDisk, loop.core.system.fileSystem)
        disk.write("/log/app", "one\n")
        var files = try FollowedFiles("/log/app", from: .end, in: system)
        func look() throws -> [String] {
            try files.look(at: "/log/app", reads: true, hasChanged: true, in: system).map { $0.bytes.text }
        }
        disk.rename("/log/app", to: "/log/app.1")
        disk.write("/log/app", "")
        loop.advance(by: .seconds(1))
        disk.write("/log/app.1", "one\nrest\n")
        disk.rename("/log/app.1", to: "/log/app.2")
        disk.rename("/log/app", to: "/log/app.1")
        disk.write("/log/app", "")
        #expect(try look() == ["rest\n"])
        disk.write("/log/app.1", "two\n")
        disk.write("/log/app", "three\n")
        #expect(try [look(), look()] == [["two\n"], ["three\n"]])
        loop.shutdown()
    }

    @Test(
        "files are found, at their places and as newer ones, while all files of the directory get other names"
    )
    func renamedMeanwhile() throws {
        let log = FollowedLog()
        for number in 1...30 {
            log.directory.write("log.\(number)", "\(number)\n")
            log.setWritten("log.\(number)", 1_000_000 - number)
        }
        log.directory.write("log", "0\n")
        let place = try log.place("log.15", 0)
        let name = try FollowedName(log.path, in: SystemFiles())
        let (isOver, looks, group, path) = (Counter(), Counter(), DispatchGroup(), log.path)
        startThread(of: group) {
            while isOver.value == 0 {
                let look = looks.value
                for number in (1...30).reversed() {
                    _ = unsafe rename("\(path).\(number)", "\(path).\(number + 1)")
                }
                for number in 1...30 { _ = unsafe rename("\(path).\(number + 1)", "\(path).\(number)") }
                while looks.value == look, isOver.value == 0 { sched_yield() }
            }
        }
        for _ in 0..<300 {
            let file = try #require(try name.open(at: place))
            looks.add(1)
            let found = try name.newer(than: file, known: [place])
            #expect(found.former.count == 14)
            looks.add(1)
        }
        isOver.value = 1
        group.wait()
    }
}
