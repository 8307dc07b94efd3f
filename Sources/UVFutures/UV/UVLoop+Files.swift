internal import Futures
internal import SystemIO

extension UVLoop {
    var fileSystem: any FileSystem { SystemFiles() }

    func runOnDisk(_ job: RemoteJob) { FilePool.shared.run(job) }
}
