import Futures
import UVFutures

@testable import SystemIO

/// A directory of a file system that is unlike this machine's, or that others change in between.
final class OddDirectory: DirectoryHandle {
    /// Gets the name of each call before it is made, and what it is about. What it throws, the call throws.
    typealias Before = @Sendable (_ call: String, _ path: RelativePath) throws(SystemError) -> Void

    private let base: any DirectoryHandle
    private let tellsKinds: Bool
    private let before: Before

    init(_ base: any DirectoryHandle, tellsKinds: Bool = true, before: @escaping Before = { _, _ in }) {
        (self.base, self.tellsKinds, self.before) = (base, tellsKinds, before)
    }

    /// The directory at `path`, without the start of an operation.
    static func open(_ path: String, on loop: EventLoop, before: @escaping Before) throws -> Directory {
        let handle = OddDirectory(try SystemFiles().openDirectory(at: path), before: before)
        return Directory(handle, path, on: loop.core)
    }

    private func odd(_ opened: any DirectoryHandle) -> OddDirectory {
        OddDirectory(opened, tellsKinds: tellsKinds, before: before)
    }

    var descriptor: CInt? { base.descriptor }

    func openFile(_ path: RelativePath, _ opening: FileOpening) throws(SystemError) -> any FileHandle {
        try before("openFile", path)
        return try base.openFile(path, opening)
    }

    func openDirectory(_ path: RelativePath, followsLink: Bool) throws(SystemError) -> any DirectoryHandle {
        try before("openDirectory", path)
        return odd(try base.openDirectory(path, followsLink: followsLink))
    }

    func openUnmountedDirectory(_ name: RelativePath) throws(SystemError) -> any DirectoryHandle {
        try before("openUnmountedDirectory", name)
        return odd(try base.openUnmountedDirectory(name))
    }

    func information(of path: RelativePath, followsLink: Bool) throws(SystemError) -> FileInformation {
        try base.information(of: path, followsLink: followsLink)
    }

    func setPermissions(of path: RelativePath, to permissions: UInt32) throws(SystemError) {
        try base.setPermissions(of: path, to: permissions)
    }

    func makeListing() throws(SystemError) -> any DirectoryListing {
        let listing = try base.makeListing()
        return tellsKinds ? listing : WithoutKinds(listing)
    }

    func sync() throws(SystemError) {
        try before("sync", .here)
        try base.sync()
    }

    func makeDirectory(_ name: RelativePath, permissions: UInt32) throws(SystemError) {
        try base.makeDirectory(name, permissions: permissions)
    }

    func rename(
        _ name: RelativePath, to newName: RelativePath, in target: any DirectoryHandle, replacing: Bool
    ) throws(SystemError) {
        try before("rename", name)
        try base.rename(name, to: newName, in: target, replacing: replacing)
    }

    func remove(_ name: RelativePath, isDirectory: Bool) throws(SystemError) {
        try before(isDirectory ? "removeDirectory" : "remove", name)
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

    func makeUnnamedFile(permissions: UInt32) throws(SystemError) -> any FileHandle {
        try before("makeUnnamedFile", .here)
        return try base.makeUnnamedFile(permissions: permissions)
    }

    func link(unnamed file: any FileHandle, as name: RelativePath) throws(SystemError) {
        try base.link(unnamed: file, as: name)
    }

    func close() throws(SystemError) { try base.close() }
}

/// The entries of a directory on a file system that does not say of what kind they are.
private final class WithoutKinds: DirectoryListing {
    private let base: any DirectoryListing

    init(_ base: any DirectoryListing) { self.base = base }

    func next() throws(SystemError) -> [DirectoryEntry] {
        try base.next().map { DirectoryEntry($0.path, .unknown, inode: $0.inode) }
    }
}
