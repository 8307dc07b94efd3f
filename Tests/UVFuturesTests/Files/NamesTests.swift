import Foundation
import Futures
import FuturesTesting
import Glibc
import TestSupport
import Testing

@testable import SystemIO
@testable import UVFutures

struct NamesTests {
    @Test("directories are made, with their parents if asked, and removed when empty")
    func directories() throws {
        try withDirectory { loop, directory, path in
            #expect(loop.code(of: directory.makeDirectory("a/b/c")) == .notFound)
            try loop.run(until: directory.makeDirectory("a/b/c", withParents: true))
            try loop.run(until: directory.makeDirectory("a/b/c", withParents: true))
            #expect(loop.code(of: directory.makeDirectory("a/b/c")) == .alreadyExists)
            try put("x", path + "/a/file")
            #expect(loop.code(of: directory.makeDirectory("a/file/b", withParents: true)) == .notDirectory)
            let long = "a/" + String(repeating: "n", count: 256)
            let code = loop.code(of: directory.makeDirectory(long + "/b", withParents: true))
            #expect(code?.rawValue == -ENAMETOOLONG)
            #expect(loop.code(of: directory.removeDirectory("a")) == .directoryNotEmpty)
            #expect(loop.code(of: directory.remove("a/b")) == .isDirectory)
            #expect(loop.code(of: directory.removeDirectory("a/file")) == .notDirectory)
            try loop.run(until: directory.makeDirectory("private", permissions: 0o700))
            #expect(try loop.run(until: directory.information(of: "private")).permissions == 0o700)
            for name in ["a/b/c", "a/b", "private/"] {
                try loop.run(until: directory.removeDirectory(name))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["a"])
        }
    }

    @Test("a file is renamed, into another directory too, and replaces another only if it may")
    func renames() throws {
        try withDirectory { loop, directory, path in
            try put("one", path + "/one")
            try put("two", path + "/two")
            try loop.run(until: directory.makeDirectory("sub"))
            #expect(loop.code(of: directory.rename("one", to: "two", replacing: false)) == .alreadyExists)
            #expect(contents(path + "/two") == "two")
            try loop.run(until: directory.rename("one", to: "two"))
            #expect(contents(path + "/two") == "one")
            let sub = try loop.run(until: directory.openDirectory("sub"))
            try loop.run(until: directory.rename("two", to: "three", in: sub))
            #expect(contents(path + "/sub/three") == "one")
            try loop.run(until: sub.rename("three", to: "sub2", in: directory))
            try loop.run(until: directory.rename("sub2", to: "sub/deep"))
            #expect(contents(path + "/sub/deep") == "one")
            #expect(loop.code(of: directory.rename("missing", to: "x")) == .notFound)
            try loop.run(until: sub.close())
            #expect(loop.failure(of: directory.rename("sub/deep", to: "x", in: sub)) is FutureError)
        }
    }

    @Test("between file systems nothing is renamed, and the error says what to do")
    func otherFileSystem() throws {
        try withDirectory { loop, directory, path in
            let other = "/dev/shm/files-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: other) }
            let memory = try loop.run(until: Directory.open(other, on: loop))
            try put("x", path + "/a")
            #expect(
                "\(loop.failure(of: directory.rename("a", to: "b", in: memory))!)"
                    == "rename a below \(path): rename EXDEV: cross-device link not permitted (the two names are on "
                    + "different file systems; copy the contents, and remove the old file)")
            #expect(loop.code(of: directory.link("a", as: "b", in: memory)) == .crossesDirectory)
            try loop.run(until: memory.close())
        }
    }

    @Test("links of both kinds are made, read and removed, and a link does not lose its file")
    func links() throws {
        try withDirectory { loop, directory, path in
            try put("x", path + "/a")
            try loop.run(until: directory.link("a", as: "b"))
            #expect(try loop.run(until: directory.information(of: "a")).linkCount == 2)
            #expect(loop.code(of: directory.link("a", as: "b")) == .alreadyExists)
            try loop.run(until: directory.makeSymbolicLink("link", to: "/nowhere/at all"))
            #expect(try loop.run(until: directory.target(ofSymbolicLink: "link")) == "/nowhere/at all")
            #expect(loop.code(of: directory.target(ofSymbolicLink: "a"))?.rawValue == -EINVAL)
            let link = try loop.run(until: directory.information(of: "link", followingLink: false))
            #expect(link.kind == .symbolicLink && link.size == 15)
            try loop.run(until: directory.makeSymbolicLink("to b", to: "b"))
            try loop.run(until: directory.remove("to b"))
            try loop.run(until: directory.remove("link"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["a", "b"])
            for target in ["", "a\0b"] {
                #expect(
                    "\(loop.failure(of: directory.makeSymbolicLink("c", to: target))!)"
                        == "the target of a link is empty or has a zero byte; give a path")
            }
            try loop.run(until: directory.makeSymbolicLink("c", to: "a\u{1}b"))
            #expect(try loop.run(until: directory.target(ofSymbolicLink: "c")) == "a\u{1}b")
        }
    }

    @Test("a link to a directory stands for it in a path, and a link to a file for that")
    func throughLinks() throws {
        try withDirectory { loop, directory, path in
            try loop.run(until: directory.makeDirectory("sub"))
            try put("x", path + "/sub/a")
            try loop.run(until: directory.makeSymbolicLink("link", to: "sub"))
            try loop.run(until: directory.makeSymbolicLink("file", to: "sub/a"))
            try loop.run(until: directory.makeDirectory("link/b/c", withParents: true))
            let opened = try loop.run(until: directory.openDirectory("link"))
            #expect(try loop.run(until: opened.contents(of: "a")).text == "x")
            try loop.run(until: opened.close())
            #expect(Set(try loop.all(directory.walk("link")).map(\.path)) == ["a", "b", "b/c"])
            try loop.run(until: directory.setPermissions(of: "file", to: 0o640))
            #expect(try loop.run(until: directory.information(of: "sub/a")).permissions == 0o640)
            try loop.run(until: directory.rename("link/a", to: "link/b/d"))
            try loop.run(until: directory.append(Data("y".utf8), to: "link/b/d", durably: true))
            #expect(contents(path + "/sub/b/d") == "xy")
            try loop.run(until: directory.removeTree("link/b"))
            #expect(try loop.all(directory.entries(of: "sub")).isEmpty)
        }
    }

    @Test("permissions hold for another user, who is told", .asRoot)
    func otherUser() async throws {
        await #expect(processExitsWith: .success) {
            try withDirectory { loop, directory, path in
                try put("secret", path + "/secret")
                #expect(unsafe chmod(path, 0o755) == 0)
                #expect(unsafe chmod(path + "/secret", 0o600) == 0)
                try FileManager.default.createDirectory(
                    atPath: path + "/mine", withIntermediateDirectories: false)
                #expect(unsafe chown(path + "/mine", 65534, 65534) == 0)
                // Of the whole process: the pool has no thread yet that keeps its user.
                #expect(setegid(65534) == 0 && seteuid(65534) == 0)
                let other = try loop.run(until: Directory.open(path, on: loop))
                #expect(loop.code(of: other.open("secret")) == .permissionDenied)
                #expect(loop.code(of: other.contents(of: "secret")) == .permissionDenied)
                #expect(loop.code(of: other.replace("secret", with: Data())) == .permissionDenied)
                #expect(loop.code(of: other.makeDirectory("new")) == .permissionDenied)
                #expect(loop.code(of: other.rename("secret", to: "mine/secret")) == .permissionDenied)
                #expect(loop.code(of: other.remove("secret")) == .permissionDenied)
                #expect(loop.code(of: other.removeTree("secret")) == .permissionDenied)
                #expect(loop.code(of: other.setPermissions(of: "secret", to: 0o666)) == .notPermitted)
                #expect(try loop.run(until: other.information(of: "secret")).owner == 0)
                try loop.run(until: other.replace("mine/a", with: Data("a".utf8)))
                #expect(try loop.run(until: other.information(of: "mine/a")).owner == 65534)
                try loop.run(until: other.setPermissions(of: "mine/a", to: 0o600))
                try loop.run(until: other.removeTree("mine/a"))
                try loop.run(until: other.close())
                #expect(seteuid(0) == 0 && setegid(0) == 0)
                #expect(contents(path + "/secret") == "secret")
            }
        }
    }
}
