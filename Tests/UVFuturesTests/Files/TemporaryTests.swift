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

    @Test("where no file can be made without a name, one is made with a name that is removed")
    func fallback() throws {
        try withLoop { loop in
            let path = try makeEmptyDirectory()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let handle = WithoutUnnamedFiles(try SystemFiles().openDirectory(at: path))
            let directory = Directory(handle, path, on: loop.core)
            let file = try loop.run(until: directory.makeTemporaryFile())
            try loop.run(until: file.write(Data("hello".utf8), at: 0))
            #expect(try loop.run(until: file.readAll()).text == "hello")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            try loop.run(until: file.close())
            try loop.run(until: directory.close())
        }
    }
}

/// A directory of a file system that has no files without a name.
private final class WithoutUnnamedFiles: DirectoryHandle {
    private let base: any DirectoryHandle

    init(_ base: any DirectoryHandle) { self.base = base }

    var descriptor: CInt? { base.descriptor }
    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any UVFutures
        .FileHandle
    {
        try base.openFile(path, opening)
    }
    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle {
        try base.openDirectory(path, followsLink: followsLink)
    }
    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle {
        try base.openUnmountedDirectory(name)
    }
    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation {
        try base.information(of: path, followsLink: followsLink)
    }
    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError) {
        try base.setPermissions(of: path, to: permissions)
    }
    func makeListing() throws(SystemError) -> any DirectoryListing { try base.makeListing() }
    func sync() throws(SystemError) { try base.sync() }
    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError) {
        try base.makeDirectory(name, permissions: permissions)
    }
    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError) { try base.rename(name, to: newName, in: target, replacing: replacing) }
    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError) {
        try base.remove(name, isDirectory: isDirectory)
    }
    func link(_ name: RelativePath, as newName: RelativePath, in target: any DirectoryHandle)
        throws(SystemError)
    {
        try base.link(name, as: newName, in: target)
    }
    func makeSymbolicLink(_ name: RelativePath, to target: String) throws(SystemError) {
        try base.makeSymbolicLink(name, to: target)
    }
    func symbolicLinkTarget(_ name: RelativePath) throws(SystemError) -> String {
        try base.symbolicLinkTarget(name)
    }
    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any UVFutures.FileHandle {
        throw SystemError(.notSupported, "openat2")
    }
    func link(unnamed file: any UVFutures.FileHandle, as name: RelativePath) throws(SystemError) {
        try base.link(unnamed: file, as: name)
    }
    func close() throws(SystemError) { try base.close() }
}
