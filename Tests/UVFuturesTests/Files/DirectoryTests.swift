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

struct DirectoryTests {
    @Test("a file is opened, made and emptied as asked")
    func opens() throws {
        try withDirectory { loop, directory, path in
            #expect(loop.code(of: directory.open("a")) == .notFound)
            let made = try loop.run(
                until: directory.open("a", .readWrite, creating: .ifMissing, permissions: 0o640))
            try loop.run(until: made.write(Data("hello".utf8), at: 0))
            #expect(loop.code(of: directory.open("a", .writeOnly, creating: .always)) == .alreadyExists)
            #expect(try loop.run(until: made.information()).permissions == 0o640)
            let read = try loop.run(until: directory.open("a"))
            #expect(try loop.run(until: read.readAll()).text == "hello")
            #expect(loop.code(of: read.write(Data("x".utf8), at: 0)) == .badDescriptor)
            let emptied = try loop.run(until: directory.open("a", .writeOnly, truncating: true))
            #expect(contents(path + "/a") == "")
            #expect(loop.code(of: emptied.readAll()) == .badDescriptor)
            #expect(made.path == "a" && made.access == .readWrite)
            #expect("\(made)" == "file a below \(path)" && "\(directory)" == "directory \(path)")
            #expect(loop.statistics.files == 4)
            #expect(loop.dump().contains("file a below \(path)"))
            for file in [made, read, emptied] { try loop.run(until: file.close()) }
        }
    }

    @Test("a path that is empty, absolute or has a zero byte is refused with a sentence")
    func badPaths() throws {
        try withDirectory { loop, directory, path in
            func complaint(_ path: String) -> String { "\(loop.failure(of: directory.open(path))!)" }
            #expect(
                complaint("") == "the path is empty; give a name, or \".\" for the directory itself"
            )
            #expect(
                complaint("/etc/passwd")
                    == "the path /etc/passwd is absolute, and leaves the directory; give a path relative to the directory"
            )
            #expect(
                complaint("a\0b") == "the path \"a\\0b\" has a zero byte, which ends a path; leave it out")
            #expect(
                "\(loop.failure(of: directory.remove("a/.."))!)"
                    == "the path a/.. does not end with the name of an entry; give one that does")
            for path in ["", "/\0tmp"] {
                #expect(
                    "\(loop.failure(of: Directory.open(path, on: loop))!)"
                        == "the path of a directory is empty or has a zero byte; give \".\" for the current one"
                )
            }
            #expect(
                "\(loop.failure(of: directory.open("a", .readWrite, creating: .always, permissions: 0o10000))!)"
                    == "permissions must be from 0o000 to 0o7777, not 0o10000")
            #expect(
                "\(loop.failure(of: directory.open("a", truncating: true))!)"
                    == "a file that is opened for reading only cannot be emptied; give .readWrite or .writeOnly"
            )
        }
    }

    @Test("nothing leads out of a directory: no ..., no link, no magic link, and the error says so")
    func cannotBeLeft() throws {
        // Whatever is let out by mistake does its harm inside `outer`.
        try withDirectory { loop, _, outer in
            let (path, outside) = (outer + "/inner", outer + "/outside")
            let manager = FileManager.default
            for name in ["outside", "inner/sub"] {
                try manager.createDirectory(atPath: "\(outer)/\(name)", withIntermediateDirectories: true)
            }
            try put("secret", outside + "/secret")
            let directory = try loop.run(until: Directory.open(path, on: loop))
            for (link, target) in [
                ("absolute", outside), ("relative", "../outside"), ("deep", "sub/../../outside"),
                ("file", outside + "/secret"), ("root", "/"), ("magic", "/proc/self/root" + outside),
            ] { try manager.createSymbolicLink(atPath: "\(path)/\(link)", withDestinationPath: target) }
            let escapes = [
                "..", "../outside/secret", "sub/../../outside/secret", "absolute/secret", "relative/secret",
                "deep/secret", "file", "magic/secret", "root\(outside)/secret",
            ]
            for escape in escapes {
                #expect(loop.code(of: directory.open(escape)) == .crossesDirectory, "\(escape)")
                #expect(loop.code(of: directory.information(of: escape)) == .crossesDirectory)
                #expect(loop.code(of: directory.contents(of: escape)) == .crossesDirectory)
                #expect(loop.code(of: directory.setPermissions(of: escape, to: 0)) == .crossesDirectory)
            }
            for way in ["absolute", "relative", "deep", "magic", ".."] {
                let entry = way + "/made"
                #expect(loop.code(of: directory.openDirectory(way)) == .crossesDirectory)
                #expect(loop.code(of: directory.makeDirectory(entry)) == .crossesDirectory)
                #expect(loop.code(of: directory.makeDirectory(entry, withParents: true)) == .crossesDirectory)
                #expect(loop.code(of: directory.replace(entry, with: Data())) == .crossesDirectory)
                #expect(loop.code(of: directory.append(Data("x".utf8), to: entry)) == .crossesDirectory)
                #expect(loop.code(of: directory.makeSymbolicLink(entry, to: "x")) == .crossesDirectory)
                #expect(loop.code(of: directory.remove(way + "/secret")) == .crossesDirectory)
                #expect(loop.code(of: directory.removeTree(way + "/secret")) == .crossesDirectory)
                #expect(loop.code(of: directory.rename(way + "/secret", to: "mine")) == .crossesDirectory)
                #expect(loop.code(of: directory.link(way + "/secret", as: "mine")) == .crossesDirectory)
                #expect(loop.code(of: directory.rename("sub", to: entry)) == .crossesDirectory)
                #expect(throws: FileError.self) { try loop.all(directory.entries(of: way)) }
                #expect(throws: FileError.self) { try loop.all(directory.walk(way)) }
            }
            #expect(try manager.contentsOfDirectory(atPath: outside) == ["secret"])
            #expect(contents(outside + "/secret") == "secret")
            let error = loop.failure(of: directory.open("file"))!
            #expect(
                "\(error)"
                    == "open file below \(path): openat2 EXDEV: cross-device link not permitted (the path leads "
                    + "out of the directory, which is not allowed; give a path that stays below it)")
            // Inside, links and .. are followed.
            try put("mine", path + "/sub/a")
            try manager.createSymbolicLink(atPath: path + "/inside", withDestinationPath: "sub/../sub/a")
            #expect(try loop.run(until: directory.contents(of: "inside")).text == "mine")
            let opened = try loop.run(until: directory.openDirectory("sub"))
            #expect(opened.path == path + "/sub")
            #expect(loop.code(of: opened.contents(of: "../inside")) == .crossesDirectory)
            try loop.run(until: opened.close())
            try loop.run(until: directory.close())
        }
    }

    @Test("the root is opened by any path, and its errors name it")
    func root() throws {
        try withLoop { loop in
            #expect(
                "\(loop.failure(of: Directory.open("/missing", on: loop))!)"
                    == "open /missing below the root: open ENOENT: no such file or directory")
            #expect(loop.code(of: Directory.open("/dev/null", on: loop)) == .notDirectory)
            let directory = Directory.open("/", on: loop)
            let opened = try loop.run(until: directory)
            #expect(opened.loop === loop.core && opened.path == "/")
            // In another file system.
            #expect(try loop.run(until: opened.contents(of: "proc/self/comm")).text.hasSuffix("\n"))
            try loop.run(until: opened.close())
        }
    }
}
