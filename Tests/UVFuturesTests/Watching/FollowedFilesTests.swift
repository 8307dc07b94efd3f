import CFuturesSystem
import CLibUV
import Foundation
import Glibc
import Testing

@testable import SystemIO
@testable import UVFutures

struct FollowedFilesTests {
    @Test("the old file is read to its end before the new one, which may still be empty")
    func rotation() throws {
        var log = FollowedLog()
        try log.begin()
        #expect(log.files.position == nil)
        #expect(try log.look() == "" && !log.files.hasLostName)
        log.directory.write("log", "one\n")
        #expect(try log.look() == "one\n" && !log.files.hasLostName)
        log.directory.rename("log", "log.1")
        #expect(try log.look() == "" && log.files.hasLostName)
        log.directory.write("log", "")
        log.directory.write("log.1", "tw", appending: true)
        #expect(try log.look() == "tw")
        #expect(try log.look() == "" && log.files.hasLostName)
        log.directory.write("log", "three\n")
        log.directory.write("log.1", "o", appending: true)
        #expect(try log.look() == "o")
        #expect(try log.look() == "\nthree\n" && !log.files.hasLostName)
        #expect(try log.look() == "")
        #expect(log.files.losses.isEmpty && log.files.found == 2)
    }

    /// Runs `before` at each opening of a directory.
    private struct BusyFiles: FileSystem {
        let before: @Sendable () -> Void

        func openDirectory(at path: String) throws(SystemError) -> any DirectoryHandle {
            before()
            return try SystemFiles().openDirectory(at: path)
        }
    }

    @Test("what is written into the old file while the new one is looked for comes before the new one")
    func lateBytes() throws {
        var log = FollowedLog()
        log.directory.write("log", "one\n")
        try log.begin(from: .end)
        log.directory.rename("log", "log.1")
        log.directory.write("log", "three\n")
        let old = log.directory.url("log.1")
        let late = BusyFiles {
            let end = try! FileHandle(forWritingTo: URL(filePath: old))
            _ = try! end.seekToEnd()
            try! end.write(contentsOf: Data("two".utf8))
        }
        #expect(try log.look(in: late) == "two")
        #expect(try log.look() == "\nthree\n")
    }

    @Test("files that had the name between two looks are read in their order, whatever rotates them")
    func missed() throws {
        let ways: [(String, [(String, String)])] = [
            ("numbers", [("log", "log.3"), ("log", "log.2"), ("log", "log.1")]),
            ("dates", [("log", "log-20261125"), ("log", "log-20261126"), ("log", "log-20261127")]),
            ("counting up", [("log", "log.8"), ("log", "log.9"), ("log", "log.10")]),
        ]
        for (way, renames) in ways {
            var log = FollowedLog()
            log.directory.write("log", "0\n")
            try log.begin(from: .end)
            for (index, (old, new)) in renames.enumerated() {
                log.directory.write("log", "end of \(index)\n", appending: true)
                log.directory.rename(old, new)
                log.setWritten(new, 1_000_000 + index)
                log.directory.write("log", "\(index + 1)\n")
            }
            let texts = try (0..<4).map { _ in try log.look() }
            #expect(
                texts == ["end of 0\n", "1\nend of 1\n", "2\nend of 2\n", "3\n"] && log.files.losses.isEmpty,
                "\(way): \(texts)")
        }
    }

    @Test(
        "a file that is written after the next one was made hides that from nobody, which may still be empty")
    func writtenLater() throws {
        var log = FollowedLog()
        log.directory.write("log", "one\n")
        try log.begin(from: .end)
        log.directory.rename("log", "log.1")
        log.directory.write("log", "")
        log.setWritten("log", 1_000_000)
        log.directory.write("log.1", "rest\n", appending: true)
        log.directory.rename("log.1", "log.2")
        log.directory.rename("log", "log.1")
        log.directory.write("log", "")
        #expect(try log.look() == "rest\n")
        log.directory.write("log.1", "two\n", appending: true)
        log.directory.write("log", "three\n")
        #expect(try [log.look(), log.look()] == ["two\n", "three\n"])
        #expect(log.files.losses.isEmpty && log.files.found == 2)
    }

    @Test("a follow begins at a place in a file that has been rotated, or in another one of its directory")
    func places() throws {
        var log = FollowedLog()
        log.directory.write("log", "one\ntwo\n")
        let place = try log.place("log", 4)
        for (index, name) in ["log", "log.1", "log.2", "elsewhere"].enumerated() {
            if index > 0 {
                log.directory.rename(index == 1 ? "log" : "log.\(index - 1)", name)
                log.directory.write("log", "\(index)\n")
                log.setWritten("log", 2_000_000_000 + index)
            }
            try log.begin(from: .position(place))
            #expect(log.files.losses.isEmpty && log.files.position == place && log.files.found == 0)
            #expect(try log.look() == "two\n", "\(name)")
            #expect(try log.look() == (index == 0 ? "" : "\(index)\n"), "\(name)")
        }
        // In the middle of a line that the file does not end.
        log.directory.write("log", "unfinished")
        try log.begin(from: .position(log.place("log", 3)))
        #expect(try log.look() == "inished")
        log.directory.rename("log", "log.5")
        log.directory.write("log", "next\n")
        #expect(try log.look() == "\nnext\n")
        try log.begin(from: .position(log.place("log.5", 10)))
        #expect(try log.look() == "\nnext\n")
    }

    @Test("what is lost at the beginning is told: the file, its end, and files that were compressed since")
    func losses() throws {
        var log = FollowedLog()
        log.directory.write("log", "one\ntwo\n")
        let place = try log.place("log", 4)
        log.directory.write("log", "a\n")
        try log.begin(from: .position(place))
        #expect(log.files.losses == [.cutOff(after: place)])
        #expect(try log.look() == "a\n")

        let other = FollowStream.Position(device: place.device, inode: .max, birth: 0, offset: 4)
        log.directory.write("log.1", "older\n")
        log.setWritten("log.1", 1_000_000)
        try log.begin(from: .position(other))
        #expect(log.files.losses == [.files(atLeast: 1, after: other)])
        #expect(
            "\(log.files.losses[0])"
                == "at least 1 file is lost after byte 4 of inode \(UInt64.max) on device \(place.device)")
        #expect(try [log.look(), log.look()] == ["older\n", "a\n"])

        // The same numbers, as a system gives them to another file.
        var born = try log.place("log", 2)
        if born.birth != 0 {
            born = .init(device: born.device, inode: born.inode, birth: born.birth - 1, offset: 2)
            try log.begin(from: .position(born))
            #expect(log.files.losses == [.files(atLeast: 1, after: born)])
        }

        try log.begin(from: .position(log.place("log.1", 6)))
        let end = try log.place("log", 2)
        #expect(try log.look() == "a\n")
        log.directory.rename("log", "log.2")
        for (index, name) in ["log.1.gz", "log.0.xz"].enumerated() {
            log.directory.write(name, "compressed")
            log.setWritten(name, 2_000_000_000 + index)
        }
        log.directory.write("log", "b\n")
        #expect(try log.look() == "b\n")
        #expect(log.files.losses == [.files(atLeast: 2, after: end)])
        #expect("\(log.files.losses[0])".hasPrefix("at least 2 files are lost after byte 2 of inode "))
    }

    @Test("a file that was compressed before it was read is told as lost, also if it is the only one")
    func compressed() throws {
        var log = FollowedLog()
        log.directory.write("log", "one\n")
        try log.begin(from: .end)
        let end = try log.place("log", 4)
        log.directory.rename("log", "log.2")
        log.directory.write("log.1.gz", "compressed")
        log.setWritten("log.1.gz", 2_000_000_000)
        log.directory.write("log", "two\n")
        #expect(try log.look() == "two\n" && log.files.losses == [.files(atLeast: 1, after: end)])
    }

    @Test("a file that stays empty is passed over, and a line that has no end before it is ended")
    func emptyBetween() throws {
        for (text, looks) in [("one\n", ["", "two\n"]), ("one", ["", "\n", "two\n"])] {
            var log = FollowedLog()
            log.directory.write("log", text)
            try log.begin()
            #expect(try log.look() == text && !log.files.hasLostName)
            log.directory.rename("log", "log.2")
            log.directory.write("log", "")
            #expect(try log.look() == looks[0])
            log.directory.rename("log", "log.1")
            log.directory.write("log", "two\n")
            #expect(try (1..<looks.count).map { _ in try log.look() } == Array(looks.dropFirst()))
        }
    }

    @Test("a file of which nothing was read ends no line, and one byte in the next file is enough to go on")
    func firstBytes() throws {
        var log = FollowedLog()
        log.directory.write("log", "")
        try log.begin()
        #expect(!log.files.hasLostName)
        log.directory.rename("log", "log.1")
        log.directory.write("log", "x")
        #expect(try log.look() == "x")
        // Behind the first byte, which ends no line.
        try log.begin(from: .position(log.place("log", 1)))
        log.directory.rename("log", "log.1")
        log.directory.write("log", "y")
        #expect(try log.look() == "\ny")
        try log.begin(from: .position(log.place("log", 0)))
        #expect(try log.look() == "y")
    }

    @Test("no more than 64 files wait to be read, and the others are found when these have been")
    func many() throws {
        var log = FollowedLog()
        log.directory.write("log", "0\n")
        try log.begin()
        for number in 1...70 {
            log.directory.rename("log", "log.\(100 - number)")
            log.directory.write("log", "\(number)\n")
            #expect(try log.look(reads: false) == "")
            #expect(log.files.found == min(number, 63) && log.files.isComplete == (number < 64))
        }
        #expect(try (0...70).map { _ in try log.look() } == (0...70).map { "\($0)\n" })
        #expect(log.files.found == 70)
    }

    @Test(
        "a directory that is away for a while is waited for, and what takes the place of the log is an error")
    func awayForAWhile() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("logs")
        directory.write("logs/log", "one\n")
        let path = directory.url("logs/log")
        var files = try FollowedFiles(path, from: .end, in: SystemFiles())
        func look() throws -> [String] {
            try files.look(at: path, reads: true, hasChanged: true, in: SystemFiles()).map { $0.bytes.text }
        }
        directory.rename("logs", "away")
        #expect(try look() == [] && files.hasLostName)
        directory.write("away/log", "two\n", appending: true)
        #expect(try look() == ["two\n"] && files.hasLostName)
        directory.rename("away", "logs")
        #expect(try look() == [] && !files.hasLostName)
        directory.remove("logs/log")
        directory.makeDirectory("logs/log")
        #expect(throws: SystemError(.isDirectory, "openat2")) { try look() }
    }
}

/// A directory, and what a look at `log` in it finds.
struct FollowedLog {
    let directory = TemporaryDirectory()
    var files: FollowedFiles!
    var path: String { directory.url("log") }

    mutating func begin(from start: File.FollowStart = .beginning) throws {
        files = try FollowedFiles(path, from: start, in: SystemFiles())
    }

    mutating func look(
        reads: Bool = true, hasChanged: Bool = true, in system: any FileSystem = SystemFiles()
    ) throws -> String {
        let parts = try files.look(at: path, reads: reads, hasChanged: hasChanged, in: system)
        return parts.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
    }

    func place(_ name: String, _ offset: Int) throws -> FollowStream.Position {
        var status = stat()
        try #require(unsafe stat(directory.url(name), &status) == 0)
        let file = try #require(try FollowedName(directory.url(name), in: SystemFiles()).open())
        #expect(
            file.position.inode == UInt64(status.st_ino) && file.position.device == UInt64(status.st_dev))
        var position = file.position
        position.offset = offset
        return position
    }

    /// Gives a file the times of its last write and its last change.
    func setWritten(_ name: String, _ seconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        #expect(unsafe utimensat(AT_FDCWD, directory.url(name), times, 0) == 0)
    }
}
