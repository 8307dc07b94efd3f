import Foundation
import Testing

@testable import UVFutures

struct FollowedFileTests {
    private func look(_ path: String, _ file: inout FollowedFile?) throws -> (String, hasLostName: Bool) {
        let look = try FollowedFile.look(at: path, after: file, in: SystemFiles())
        file = look.file
        return (String(decoding: look.bytes, as: UTF8.self), look.hasLostName)
    }

    @Test("the old file is read to its end before the new one, which may still be empty")
    func rotation() throws {
        let directory = TemporaryDirectory()
        let path = directory.url("log")
        var file = try FollowedFile.open(path, atEnd: false, in: SystemFiles())
        #expect(file == nil)
        #expect(try look(path, &file) == ("", false))
        directory.write("log", "one\n")
        #expect(try look(path, &file) == ("one\n", false))
        directory.rename("log", "log.1")
        #expect(try look(path, &file) == ("", true))
        directory.write("log", "")
        directory.write("log.1", "tw", appending: true)
        #expect(try look(path, &file) == ("tw", false))
        #expect(try look(path, &file) == ("", true))
        directory.write("log", "three\n")
        directory.write("log.1", "o", appending: true)
        #expect(try look(path, &file) == ("o", false))
        #expect(try look(path, &file) == ("\nthree\n", false))
        #expect(try look(path, &file) == ("", false))
    }

    /// Runs `before` at each opening of a directory.
    private struct BusyFiles: FileSystem {
        let before: @Sendable () -> Void

        func openDirectory(at path: String) throws(UVError) -> any DirectoryHandle {
            before()
            return try SystemFiles().openDirectory(at: path)
        }
    }

    @Test("what is written into the old file while the new one is looked for comes before the new one")
    func lateBytes() throws {
        let directory = TemporaryDirectory()
        let path = directory.url("log")
        directory.write("log", "one\n")
        var file = try FollowedFile.open(path, atEnd: true, in: SystemFiles())
        directory.rename("log", "log.1")
        directory.write("log", "three\n")
        let old = directory.url("log.1")
        let late = BusyFiles {
            let end = try! FileHandle(forWritingTo: URL(filePath: old))
            _ = try! end.seekToEnd()
            try! end.write(contentsOf: Data("two".utf8))
        }
        let found = try FollowedFile.look(at: path, after: file, in: late)
        #expect(String(decoding: found.bytes, as: UTF8.self) == "two")
        file = found.file
        #expect(try look(path, &file) == ("\nthree\n", false))
    }

    @Test("a file that is shorter than what was read is read from its beginning")
    func emptied() throws {
        let directory = TemporaryDirectory()
        let path = directory.url("log")
        directory.write("log", "before\n")
        var file = try FollowedFile.open(path, atEnd: true, in: SystemFiles())
        #expect(try look(path, &file) == ("", false))
        directory.write("log", "new\n")
        #expect(try look(path, &file) == ("new\n", false))
    }

    @Test("a link is followed, one that leads in a circle is an error, and so is a directory")
    func links() throws {
        let directory = TemporaryDirectory()
        directory.write("log", "x")
        directory.link("relative", to: "log")
        directory.link("absolute", to: directory.url("relative"))
        directory.link("circle", to: "circle")
        #expect(try FollowedFile.open(directory.url("absolute"), atEnd: false, in: SystemFiles()) != nil)
        func code(_ path: String) -> UVError.Code? {
            do { _ = try FollowedFile.open(path, atEnd: false, in: SystemFiles()) } catch {
                return (error as? UVError)?.code
            }
            return nil
        }
        #expect(code(directory.url("circle")) == .tooManyLinks)
        #expect(code(directory.path) == .isDirectory)
        #expect(code(directory.path + "/") == .isDirectory)
    }
}
