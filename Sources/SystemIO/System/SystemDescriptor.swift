internal import CFuturesSystem
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// A descriptor of a file or a directory. Releasing the last reference closes it.
final class SystemDescriptor: Sendable {
    let number: CInt
    var descriptor: CInt? { number }
    private let isClosed = Atomic(false)

    init(_ number: CInt) { self.number = number }

    deinit { if !isClosed.load(ordering: .relaxed) { FilePool.shared.close(number) } }

    func close() throws(SystemError) {
        isClosed.store(true, ordering: .relaxed)
        // The descriptor is gone even if this fails.
        if Glibc.close(number) != 0, errno != EINTR { throw SystemError(-errno, "close") }
    }

    func sync(dataOnly: Bool) throws(SystemError) {
        if (dataOnly ? fdatasync(number) : fsync(number)) != 0 {
            throw SystemError(-errno, dataOnly ? "fdatasync" : "fsync")
        }
    }

    func information() throws(SystemError) -> FileInformation {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemError(-errno, "fstat") }
        return FileInformation(status)
    }
}

/// A regular file of the operating system.
extension SystemDescriptor: FileHandle {
    func read(_ count: Int, at offset: Int) throws(SystemError) -> Data {
        let block = unsafe malloc(count)!
        while true {
            let size = unsafe pread(number, block, count, offset)
            if size < 0, errno == EINTR { continue }
            guard size > 0 else {
                let error = errno
                unsafe free(block)
                if size == 0 { return Data() }
                throw SystemError(-error, "read")
            }
            return unsafe Data(bytesNoCopy: realloc(block, size)!, count: size, deallocator: .free)
        }
    }

    func write(_ bytes: Data, at offset: Int) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(number, $0.baseAddress!, $0.count, offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(-errno, "write") }
            return count
        }
    }

    func append(_ bytes: Data) throws(SystemError) -> Int {
        let count = unsafe bytes.withUnsafeBytes { unsafe write_at_end(number, $0.baseAddress!, $0.count) }
        guard count >= 0 else { throw SystemError(CInt(count), "write") }
        return count
    }

    func truncate(to size: Int) throws(SystemError) {
        if ftruncate(number, size) != 0 { throw SystemError(-errno, "truncate") }
    }

    var birth: Int64 { birth_of_file(number) }

    func setPermissions(to permissions: UInt32) throws(SystemError) {
        if fchmod(number, permissions) != 0 { throw SystemError(-errno, "chmod") }
    }

    func tryLock(exclusive: Bool) throws(SystemError) -> Bool {
        let status = lock_open_file(number, CShort(exclusive ? F_WRLCK : F_RDLCK))
        if status == -EAGAIN || status == -EACCES { return false }
        try SystemError.check(status, "lock")
        return true
    }

    func unlock() throws(SystemError) {
        try SystemError.check(lock_open_file(number, CShort(F_UNLCK)), "unlock")
    }
}
