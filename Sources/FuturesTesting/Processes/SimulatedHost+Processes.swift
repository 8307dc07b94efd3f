internal import ByteStreams
internal import Futures
internal import SystemIO

extension VirtualDriver {
    /// Starts one of the host's programs as a process. Throws `ProcessError` if no program has that name.
    func startProcess(_ launch: ProcessLaunch) throws -> ProcessStart {
        let name = RelativePath(checked: launch.program).components.last?.description ?? ""
        guard let program = host.programs[launch.program] ?? host.programs[name] else {
            throw ProcessError(launch.program, .execute, .notFound)
        }
        for (number, source) in launch.sources
        where !host.isSimulated(source, as: number) || launch.window != nil {
            throw FutureError.invalidArgument(
                "\(launch.program) is configured with a file, a terminal or a descriptor, which a simulated "
                    + "process cannot have; give it streams")
        }
        guard host.hasDescriptor else {
            throw ProcessError(launch.program, .makeProcess, .tooManyOpenFiles)
        }
        host.lastProcess += 1
        var (carriers, streams): ([CInt: any StreamCarrier], [DescriptorStream]) = ([:], [])
        for number: CInt in 0...2 {
            let (pipe, isShared) = host.pipe(number, launch)
            let writes = number > 0
            let end = StandardPipeTransport(
                pipe, self, writes: writes, isOfChild: true, isShared: isShared)
            streams.append(
                DescriptorStream(
                    over: end, sides: writes ? .write : .read, SimulatedHost.limitsOfProcesses, on: loop))
            if case .pipe = launch.sources[number] {
                carriers[number] = StandardPipeTransport(
                    pipe, self, writes: !writes, isOfChild: true, isShared: false)
            }
        }
        let process = SimulatedProcess(host.lastProcess, launch, streams, on: loop)
        return (SimulatedChild(self, process, launch, program), carriers)
    }
}

extension SimulatedHost {
    /// A process does not end while it has something to write.
    fileprivate static var limitsOfProcesses: StreamLimits {
        var limits = ChildProcess.defaultStreamLimits
        limits.closeTimeout = .seconds(1_000_000_000)
        return limits
    }

    fileprivate func isSimulated(_ source: ProcessLaunch.Source, as number: CInt) -> Bool {
        switch source {
        case .null, .pipe, .joint, .standardOutput: true
        case .descriptor(let descriptor): descriptor == number && number <= 2
        case .file, .terminal: false
        }
    }

    /// Returns the pipe for standard stream `number` of a process, and whether others use the same end of it.
    fileprivate func pipe(_ number: CInt, _ launch: ProcessLaunch) -> (StandardPipe, isShared: Bool) {
        let new = StandardPipe(number, of: self, owner: launch.program)
        new.capacity = 65_536
        switch launch.sources[number] {
        case .descriptor: return (standardPipes[Int(number)], true)
        case .joint(let joint, let childWrites):
            if !childWrites { return (joint.end as! StandardPipe, false) }
            joint.end = new
            return (new, false)
        // An output that has ended takes everything, and an input that has ended is empty.
        case .null: new.endWriting()
        default: break
        }
        return (new, false)
    }
}
