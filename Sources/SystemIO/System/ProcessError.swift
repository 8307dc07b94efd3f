/// The error of a program that could not be started: which step failed, and why. Nothing of the program is left.
public struct ProcessError: Error, Hashable, Sendable {
    /// A step on the way from a configuration to a running program. All but the first three happen in the child, before
    /// its program runs.
    public enum Step: String, Hashable, Sendable {
        /// A file, a pipe or a terminal for the child could not be opened.
        case openStream
        /// A descriptor that the child should get is not open.
        case findDescriptor
        /// The system could not create a process.
        case makeProcess
        case makeSession
        case makeGroup
        /// The terminal could not become the controlling terminal of the session.
        case controlTerminal
        /// A descriptor could not get its number in the child.
        case passDescriptor
        /// The other descriptors could not be closed.
        case closeDescriptors
        case setLimit
        /// The supplementary groups could not be set.
        case setGroups
        case setGroup
        case setUser
        case changeDirectory
        case execute
    }

    /// The program, as it was given.
    public let program: String
    public let step: Step
    public let code: SystemError.Code
    /// The subject of the step: a file, the number of a descriptor, a limit, or a directory. Empty if the step has
    /// none.
    public let subject: String

    package init(_ program: String, _ step: Step, _ code: SystemError.Code, _ subject: String = "") {
        self.program = program
        self.step = step
        self.code = code
        self.subject = subject
    }
}

extension ProcessError: CustomStringConvertible {
    /// The error in one line, such as `cannot start sort: its working directory /gone cannot be entered: ENOENT, no such
    /// file or directory; make it, or give another`.
    public var description: String {
        let (event, advice) = eventAndAdvice
        return
            "cannot start \(program): \(event): \(code.name), \(code.message)\(advice.isEmpty ? "" : "; \(advice)")"
    }

    private var eventAndAdvice: (String, String) {
        let rights = "run with more rights, or leave the setting out"
        return switch step {
        case .openStream:
            ("\(subject) cannot be opened", shortage ?? "make sure that it exists and may be used")
        case .findDescriptor: ("\(subject) is not open", "open it first, or give the child something else")
        case .makeProcess:
            (
                "the system cannot make a process",
                shortage ?? "check the limits of the system and of its containers"
            )
        case .makeSession: ("it cannot get a session of its own", rights)
        case .makeGroup: ("it cannot get a process group of its own", rights)
        case .controlTerminal: ("the terminal cannot become its controlling terminal", rights)
        case .passDescriptor: ("descriptor \(subject) cannot be passed on", "raise the limit of open files")
        case .closeDescriptors: ("it cannot be kept from inheriting descriptors", "run on Linux 5.9 or newer")
        case .setLimit: ("its limit of \(subject) cannot be set", "ask for less, or run with more rights")
        case .setGroups: ("its supplementary groups cannot be set", rights)
        case .setGroup: ("its group \(subject) cannot be set", rights)
        case .setUser: ("its user \(subject) cannot be set", rights)
        case .changeDirectory:
            ("its working directory \(subject) cannot be entered", "make it, or give another")
        case .execute: ("it cannot be executed", adviceOnExecuting)
        }
    }

    private var shortage: String? {
        switch code.name {
        case "EMFILE", "ENFILE": adviceOnDescriptors
        case "EAGAIN": "raise the limit of processes (ulimit -u, LimitNPROC=, TasksMax=), or end some"
        case "ENOMEM": "make sure that there is enough memory"
        case "ENOSYS": "run on Linux 5.9 or newer"
        default: nil
        }
    }

    private var adviceOnExecuting: String {
        switch code.name {
        case "ENOENT", "ENOTDIR":
            program.contains("/")
                ? "make sure that it exists, and the interpreter in its first line, too"
                : "give its path, or a PATH that contains it"
        case "EACCES": "make sure that it is a file, and that its user may execute it"
        case "ENOEXEC": "give a program of this machine, or a script whose first line names its interpreter"
        case "E2BIG": "give it fewer or shorter arguments and variables"
        case "EAGAIN": "its user has reached the limit of processes; end some, or raise the limit"
        default: ""
        }
    }
}
