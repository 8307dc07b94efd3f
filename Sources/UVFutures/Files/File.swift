public import FoundationEssentials
public import Futures

/// An open regular file. Its operations run on a pool of threads, and never on the loop's thread.
///
/// Reads and writes name their position in the file. So several of them may be under way at the same time, and they end
/// in any order. An operation that is cancelled before a thread has begun it does not run. One that has begun runs to its
/// end, since nothing can interrupt it: only its result is dropped.
///
/// ``Directory/open(_:_:creating:truncating:permissions:)`` opens a file. The file belongs to its loop: use it only on
/// that loop's thread. The release of the last reference closes it, after the operations that have begun. An open file
/// does not keep ``Futures/EventLoop/run()`` from returning, and a pending operation does.
public final class File {
    /// What an open file may be used for.
    public enum Access: Hashable, Sendable {
        case readOnly, writeOnly, readWrite
    }

    /// Whether an open makes the file.
    public enum Creation: Hashable, Sendable {
        /// The file has to exist.
        case never
        /// The file is made if there is none.
        case ifMissing
        /// The file is made, and must not exist: otherwise the open fails with ``UVError/Code/alreadyExists``.
        case always
    }

    public var loop: EventLoop { operations.loop }
    /// The path that the file was opened by. `.` for a file without a name.
    public var path: String { operations.name.path }
    public let access: Access
    let operations: FileOperations<any FileHandle>
    let lockState = FileLockState()

    init(_ handle: any FileHandle, _ name: FileName, _ access: Access, on loop: LoopCore) {
        self.access = access
        operations = FileOperations(handle, "file", name, on: loop)
    }

    /// Whether the file can be used: nobody has called ``close()``.
    public var isOpen: Bool {
        operations.loop.checkThread()
        return operations.isOpen
    }

    /// Completes with at most `count` bytes from the position `offset`. Completes with fewer bytes at the end of the file,
    /// and with none behind it.
    ///
    /// Fails with ``FileError`` if the file cannot be read, for example with ``UVError/Code/badDescriptor`` if it is open for
    /// writing only. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `count` is not from 1 to 2^30, or `offset`
    /// is negative. Fails with ``Futures/FutureError/closed(_:)`` after ``close()``. Calls `pread`.
    public func read(atMost count: Int, at offset: Int) -> Future<Data> {
        operations.run("read", requiring: try checkRead(count, at: offset)) { try $0.read(count, at: offset) }
    }

    /// Completes with the whole contents. Fails with ``FileError`` of the code ``UVError/Code/fileTooLarge`` if they are
    /// longer than `limit` bytes.
    public func readAll(limit: Int = 16_777_216) -> Future<Data> {
        let name = operations.name
        return operations.run("read", requiring: try checkLimit(limit)) { try $0.readAll(limit: limit, name) }
    }

    /// Writes all of `bytes` at the position `offset`. A gap behind the former end reads as zeros.
    ///
    /// Completes when the system has the bytes: after a loss of power they may be missing until ``sync(dataOnly:)`` has
    /// completed. Fails with ``FileError``, whose ``FileError/bytesWritten`` says how many bytes were written before, for
    /// example with ``UVError/Code/noSpace``. Calls `pwrite`.
    public func write(_ bytes: Data, at offset: Int) -> Future<Void> {
        let name = operations.name
        return operations.run("write", requiring: try checkOffset(offset)) {
            try $0.writeAll(bytes, at: offset, name)
        }
    }

    /// Writes all of `bytes` at the end of the file, wherever that is then. Other programs may append to the same file:
    /// no bytes are overwritten.
    ///
    /// Completes and fails as ``write(_:at:)`` does. Calls `pwritev2` with `RWF_APPEND`.
    public func append(_ bytes: Data) -> Future<Void> {
        let name = operations.name
        return operations.run("append") { try $0.appendAll(bytes, name) }
    }

    /// Cuts the file off at `size` bytes, or extends it by zeros. Calls `ftruncate`.
    public func truncate(to size: Int) -> Future<Void> {
        operations.run("truncate", requiring: try checkOffset(size)) { try $0.truncate(to: size) }
    }

    /// Completes when everything that was written is on the disk. With `dataOnly`, the times of the file may not be.
    ///
    /// After a failure, the bytes may be lost, and a second call does not say so: write them again. Calls `fsync` or
    /// `fdatasync`.
    public func sync(dataOnly: Bool = false) -> Future<Void> {
        operations.run("sync") { try $0.sync(dataOnly: dataOnly) }
    }

    /// Completes with a description of the file: its size, its times, its owner. Calls `fstat`.
    public func information() -> Future<FileInformation> {
        operations.run("information") { try $0.information() }
    }

    /// Changes the permissions. Calls `fchmod`. Fails with ``Futures/FutureError/invalidArgument(_:)`` if they are not from
    /// 0 to 0o7777.
    public func setPermissions(to permissions: UInt32) -> Future<Void> {
        operations.run("setPermissions", requiring: try checkPermissions(permissions)) {
            try $0.setPermissions(to: permissions)
        }
    }

    /// Closes the file when the operations that have begun have ended, and completes then. A lock of the file ends, too.
    ///
    /// Operations that are asked for later fail with ``Futures/FutureError/closed(_:)``. All calls have the same outcome,
    /// and cancelling it changes nothing. Fails with ``FileError`` if the system reports that something went wrong: then
    /// bytes that were written may be lost, and the file is closed nonetheless. Calls `close`.
    @discardableResult
    public func close() -> Future<Void> {
        operations.close { [lockState] handle in try lockState.end { try handle.close() } }
    }
}

@available(*, unavailable, message: "A file belongs to its loop's thread; go there with loop.execute { … }.")
extension File: Sendable {}

extension File: CustomStringConvertible {
    /// The file in one line, such as `file a.txt below spool`.
    public var description: String { operations.title }
}
