import Foundation
import Futures
import FuturesTesting
import Testing

@testable import SystemIO
@testable import UVFutures

struct TemporaryTests {
    @Test("a temporary file has no name, and is gone when it is closed; a name can be given to it")
    func unnamed() throws {
        try withDirectory { loop, directory, path in
            let file = try loop.run(until: directory.makeTemporaryFile())
            try loop.run(until: file.write(Data("hello".utf8), at: 0))
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            #expect(try loop.run(until: file.information()).linkCount == 0)
            #expect(try loop.run(until: file.information()).permissions == 0o600)
            try loop.run(until: directory.link(file, as: "a"))
            #expect(loop.code(of: directory.link(file, as: "a")) == .alreadyExists)
            #expect(contents(path + "/a") == "hello")
            try loop.run(until: file.close())
            #expect(loop.failure(of: directory.link(file, as: "b")) is FutureError)
            let other = try loop.run(until: directory.makeTemporaryFile(permissions: 0o644))
            try loop.run(until: other.close())
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["a"])
        }
    }

    @Test(
        "where no file can be made without a name, one is made with a name that is removed",
        arguments: [.notSupported, .isDirectory] as [SystemError.Code])
    func fallback(code: SystemError.Code) throws {
        try withLoop { loop in
            let path = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let directory = try OddDirectory.open(path, on: loop) { call, _ throws(SystemError) in
                if call == "makeUnnamedFile" { throw SystemError(code, "openat2") }
            }
            let file = try loop.run(until: directory.makeTemporaryFile())
            try loop.run(until: file.write(Data("hello".utf8), at: 0))
            #expect(try loop.run(until: file.readAll()).text == "hello")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            try loop.run(until: file.close())
            try loop.run(until: directory.close())
        }
    }

    @Test("where no file may be made at all, none is made with a name")
    func refused() throws {
        try withLoop { loop in
            let path = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let directory = try OddDirectory.open(path, on: loop) { call, _ throws(SystemError) in
                if call == "makeUnnamedFile" { throw SystemError(.readOnlyFileSystem, "openat2") }
            }
            #expect(loop.code(of: directory.makeTemporaryFile()) == .readOnlyFileSystem)
            try loop.run(until: directory.close())
        }
    }
}
