internal import Futures
internal import UVFutures

extension VirtualDriver {
    var fileSystem: any FileSystem { NoDisk() }

    func runOnDisk(_ job: RemoteJob) { runInPool(job) }
}

/// The files of a host without a disk.
private struct NoDisk: FileSystem {
    func openDirectory(at path: String) throws(UVError) -> any DirectoryHandle {
        // EOPNOTSUPP: the operation is not supported.
        throw UVError(UVError.Code(rawValue: -95), "open")
    }
}
