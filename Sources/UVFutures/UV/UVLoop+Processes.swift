internal import CFuturesSystem
internal import Glibc
internal import SystemIO

extension UVLoop {
    func startProcess(_ launch: ProcessLaunch) throws -> ProcessStart {
        checkProcess()
        var descriptors = ChildDescriptors()
        defer { descriptors.closeAll() }
        try descriptors.open(launch)
        var carriers: [CInt: UVPipe] = [:]
        do {
            for (number, end) in descriptors.ends {
                let kind: UVPipe.Kind = number == ChildDescriptors.terminal ? .terminal : .pipe
                carriers[number] = try UVPipe(self, adopting: end, kind)
                descriptors.ends[number] = nil
            }
            let process = try OwnChildren.start { try ChildStart(launch, descriptors).run() }
            do throws(SystemError) {
                let terminal = carriers[ChildDescriptors.terminal]
                return (try UVProcess(self, launch, process, terminal: terminal), carriers)
            } catch {
                _ = signal_process(process.descriptor, SIGKILL, false)
                UnreapedProcesses.reap(process.id, process.descriptor)
                throw ProcessError(launch.program, .makeProcess, error.code)
            }
        } catch {
            for carrier in carriers.values { carrier.close() }
            throw error
        }
    }
}
