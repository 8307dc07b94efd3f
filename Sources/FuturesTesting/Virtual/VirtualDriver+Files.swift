internal import Futures
internal import SystemIO

extension VirtualDriver {
    var fileSystem: any FileSystem { SimulatedFiles(store: host.disk.store) }

    func runOnDisk(_ job: RemoteJob) { host.disk.run(job) }

    func makeFileEvents() throws(SystemError) -> any FileEventSource {
        guard host.takeDescriptor() else { throw SystemError(.tooManyOpenFiles, "inotify_init1") }
        return SimulatedFileEvents(self)
    }
}
