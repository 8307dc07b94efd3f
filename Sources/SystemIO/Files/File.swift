public import FoundationEssentials
public import Futures

/// An open regular file. Its operations run on a thread pool, never on the loop's thread.
///
/// Each read and write states its position in the file. So several of them may run at the same time, and they complete
/// in any order. An operation that is cancelled before a thread has started it does not run. One that has started runs
/// to its end, because nothing can interrupt it: only its result is dropped.
///
/// ``Directory/open(_:_:creating:truncating:permissions:)`` opens a file. The file belongs to its loop: use it only on
/// that loop's thread. Releasing the last reference closes it, after the operations that have started. A pending
/// operation keeps ``Futures/EventLoop/run()`` from returning, but an open file does not.
public final class File {
    /// The kinds of access that an open file allows.
    public enum Access: Hashable, Sendable {
        case readOnly, writeOnly, readWrite
    }

    /// Whether opening a file creates it.
    public enum Creation: Hashable, Sendable {
        /// The file must exist.
        case never
        /// The file is created if it does not exist.
        case ifMissing
        /// The file is created, and must not exist: otherwise, opening it fails with ``SystemError/Code/alreadyExists``.
        case always
    }

    public var loop: EventLoop { operations.loop }
    /// The path by which the file was opened. `.` for a file without a name.
    public var path: String { operations.name.path }
    public let access: Access
    let operations: FileOperations<any FileHandle>
    let lockState = FileLockState()

    init(_ handle: any FileHandle, _ name: FileName, _ access: Access, on loop: LoopCore) {
        self.access = access
        operations = FileOperations(handle, "file", name, on: loop)
    }

    /// Whether the file can be used. `false` after ``close()``.
    public var isOpen: Bool {
        operations.loop.checkThread()
        return operations.isOpen
    }

    /// Completes with at most `count` bytes from the position `offset`: with fewer at the end of the file, and with
    /// none after it.
    ///
    /// Fails with ``FileError`` if the file cannot be read, for example with ``SystemError/Code/badDescriptor`` if it is open for
    /// writing only. Fails with ``Futures/FutureError/invalidArgument(_:)`` if `count` is not from 1 to 2^30, or `offset`
    /// is negative. Fails with ``Futures/FutureError/closed(_:)`` after ``close()``. Calls `pread`.
    public func read(atMost count: Int, at offset: Int) -> Future<Data> {
        operations.run("read", requiring: try checkRead(count, at: offset)) { try $0.read(count, at: offset) }
    }

    /// Completes with the whole contents. Fails with ``FileError`` and the code ``SystemError/Code/fileTooLarge`` if they
    /// are longer than `limit` bytes.
    public func readAll(limit: Int = 16_777_216) -> Future<Data> {
        let name = operations.name
        return operations.run("read", requiring: try checkLimit(limit)) { try $0.readAll(limit: limit, name) }
    }

    /// Writes all of `bytes` at the position `offset`. A gap after the previous end reads as zeros.
    ///
    /// Completes when the system has the bytes. A power loss may lose them until ``sync(dataOnly:)`` has completed.
    /// Fails with ``FileError``, for example with ``SystemError/Code/noSpace``. Its ``FileError/bytesWritten`` is the
    /// number of bytes written before the failure. Calls `pwrite`.
    public func write(_ bytes: Data, at offset: Int) -> Future<Void> {
        let name = operations.name
        return operations.run("write", requiring: try checkOffset(offset)) {
            try $0.writeAll(bytes, at: offset, name)
        }
    }

    /// Appends all of `bytes` to the current end of the file. Other programs may append to the same file: no bytes are
    /// overwritten.
    ///
    /// Completes and fails as ``write(_:at:)`` does. Calls `pwritev2` with `RWF_APPEND`.
    public func append(_ bytes: Data) -> Future<Void> {
        let name = operations.name
        return operations.run("append") { try $0.appendAll(bytes, name) }
    }

    /// Truncates the file to `size` bytes, or extends it with zeros. Calls `ftruncate`.
    public func truncate(to size: Int) -> Future<Void> {
        operations.run("truncate", requiring: try checkOffset(size)) { try $0.truncate(to: size) }
    }

    /// Completes when all written bytes are on the disk. With `dataOnly`, the times of the file may not be.
    ///
    /// After a failure, the bytes may be lost, and a second call does not report that: write them again. Calls `fsync`
    /// or `fdatasync`.
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

    /// Closes the file after the operations that have started, and completes then. A lock of the file ends, too.
    ///
    /// Later operations fail with ``Futures/FutureError/closed(_:)``. All calls have the same outcome, and cancelling
    /// one has no effect. Fails with ``FileError`` if the system reports an error: written bytes may be lost then, but
    /// the file is closed nonetheless. Calls `close`.
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
