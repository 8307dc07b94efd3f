internal import CFuturesSystem
internal import Glibc
internal import SystemIO

/// The descriptors that a child gets, and the other ends of its pipes.
struct ChildDescriptors {
    /// The key of the new terminal among `ends`.
    static let terminal: CInt = -1

    /// The descriptors of this process, by the numbers that they get in the child.
    private(set) var sources: [CInt: CInt] = [:]
    /// The ends of pipes and of the terminal that this process keeps, by the numbers in the child.
    var ends: [CInt: CInt] = [:]
    /// The descriptors that only the child needs.
    private var owned: [CInt] = []
    /// The child's side of the new terminal.
    private var terminal: CInt?

    mutating func closeAll() {
        for descriptor in owned { close(descriptor) }
        for descriptor in ends.values { close(descriptor) }
    }

    /// Opens the descriptors that the child gets. Throws `ProcessError`.
    mutating func open(_ launch: ProcessLaunch) throws {
        if let (columns, rows) = launch.window {
            var program: CInt = -1
            let person = StandardDescriptors.leave(unsafe open_terminal(&program, columns, rows))
            func failure(_ code: CInt) -> ProcessError {
                ProcessError(
                    launch.program, .openStream, SystemError.Code(rawValue: code), "a terminal for it")
            }
            guard person >= 0 else { throw failure(person) }
            ends[Self.terminal] = person
            program = StandardDescriptors.leave(program)
            guard program >= 0 else { throw failure(-errno) }
            owned.append(program)
            terminal = program
        }
        // In order, since the standard error may be the same as the standard output.
        for (number, source) in launch.sources.sorted(by: { $0.key < $1.key }) {
            sources[number] = try open(source, as: number, for: launch)
        }
    }

    private mutating func open(
        _ source: ProcessLaunch.Source, as number: CInt, for launch: ProcessLaunch
    ) throws -> CInt {
        switch source {
        case .null: return try open("/dev/null", O_RDWR, launch)
        case .file(let path, let flags): return try open(path, flags, launch)
        case .descriptor(let descriptor):
            guard fcntl(descriptor, F_GETFD) >= 0 else {
                throw ProcessError(launch.program, .findDescriptor, .badDescriptor, Self.name(descriptor))
            }
            return descriptor
        case .standardOutput: return sources[1]!
        case .terminal: return terminal!
        case .pipe(let childWrites):
            let pipe = try makePipe(for: number, launch)
            ends[number] = childWrites ? pipe.reading : pipe.writing
            owned.append(childWrites ? pipe.writing : pipe.reading)
            return owned.last!
        case .joint(let joint, let childWrites):
            guard childWrites else { return (joint.end as! OwnedDescriptor).number }
            let pipe = try makePipe(for: number, launch)
            owned.append(pipe.writing)
            joint.end = OwnedDescriptor(pipe.reading)
            return pipe.writing
        }
    }

    private mutating func open(_ path: String, _ flags: CInt, _ launch: ProcessLaunch) throws -> CInt {
        // Otherwise, opening a FIFO would make the loop wait for its other end.
        let descriptor = unsafe StandardDescriptors.leave(
            RelativePath(checked: path).withCString {
                unsafe Glibc.open($0, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o666)
            })
        guard descriptor >= 0 else {
            throw ProcessError(launch.program, .openStream, SystemError.Code(rawValue: -errno), path)
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        owned.append(descriptor)
        return descriptor
    }

    private func makePipe(for number: CInt, _ launch: ProcessLaunch) throws -> (reading: CInt, writing: CInt)
    {
        var ends: [CInt] = [-1, -1]
        if unsafe open_pipe(&ends, O_CLOEXEC) == 0 { ends = ends.map(StandardDescriptors.leave) }
        guard !ends.contains(where: { $0 < 0 }) else {
            let code = SystemError.Code(rawValue: -errno)
            for end in ends where end >= 0 { close(end) }
            throw ProcessError(launch.program, .openStream, code, "a pipe for its \(Self.name(number))")
        }
        return (ends[0], ends[1])
    }

    /// The name of a descriptor in errors.
    static func name(_ number: CInt) -> String {
        (0...2).contains(number) ? StandardDescriptors.name(number) : "descriptor \(number)"
    }
}

/// A descriptor that is closed with its last reference.
private final class OwnedDescriptor {
    let number: CInt

    init(_ number: CInt) { self.number = number }

    deinit { close(number) }
}
