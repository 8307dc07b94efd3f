package import Futures

/// A process that is to be started, in the terms of a system.
package struct ProcessLaunch {
    /// What a descriptor of the child stands for.
    package enum Source {
        /// `/dev/null`.
        case null
        /// A file that is opened with `flags`.
        case file(path: String, flags: CInt)
        /// A descriptor of this process.
        case descriptor(CInt)
        /// A new pipe: `ProcessStart.carriers` has the other end.
        case pipe(childWrites: Bool)
        /// A pipe from one child to another. The child that writes is started first.
        case joint(ProcessJoint, childWrites: Bool)
        /// The new terminal.
        case terminal
        /// What descriptor 1 stands for.
        case standardOutput
    }

    package struct Limit {
        package let resource: CInt
        /// The name of the resource, for errors.
        package let name: String
        package let soft, hard: UInt64
    }

    /// The name of the program, for errors.
    package var program: String
    /// The files that may be the program. The first that can be executed is.
    package var paths: [[UInt8]]
    /// The arguments, beginning with the name that the program has for itself.
    package var arguments: [String]
    /// The variables, each as `NAME=value`.
    package var environment: [[UInt8]]
    /// `nil` if the child begins where this process is.
    package var directory: String?
    /// The descriptors of the child: 0, 1 and 2 at least.
    package var sources: [CInt: Source]
    package var makesSession = false
    package var makesGroup = false
    /// The size of the window of a new terminal. `nil` if there is none.
    package var window: (columns: UInt16, rows: UInt16)?
    package var fileMask: UInt32?
    package var limits: [Limit] = []
    package var user, group: UInt32?
    package var groups: [UInt32]?
    /// Whether the child is killed when the loop is shut down.
    package var endsWithLoop = true
}

/// A pipe from one child to another. The system keeps the end that no child has yet.
package final class ProcessJoint {
    package var end: AnyObject?

    package init() {}
}

/// A process that has been started, and this side of its streams, by the numbers that they have in the child.
package struct ProcessStart {
    package let process: any ProcessHandle
    package let carriers: [CInt: any StreamCarrier]

    package init(_ process: any ProcessHandle, _ carriers: [CInt: any StreamCarrier]) {
        self.process = process
        self.carriers = carriers
    }
}

/// A child process in a system. It keeps its loop running until it ends, and can be signalled until it is closed.
package protocol ProcessHandle: AnyObject {
    var loop: LoopCore { get }
    /// The number of the process.
    var id: Int32 { get }
    /// Whether a process that has not ended is in the group that this one has led. For when this one has ended.
    var groupLives: Bool { get }
    /// Called once, when the process has ended: with its status as `waitpid` gives it, or with `nil` if other code
    /// has taken it. The call comes in a turn.
    var onEnd: (_ status: CInt?) -> Void { get set }
    /// Called when the loop is shut down before the handle is closed.
    var onAbort: () -> Void { get set }
    /// Sends a signal to the process, or to its group. Returns `false` if there is none.
    func signal(_ number: CInt, toGroup: Bool) throws(SystemError) -> Bool
    /// Changes the size of the new terminal's window.
    func setWindow(columns: UInt16, rows: UInt16) throws(SystemError)
    /// Lets go of the process and its group, which have ended.
    func close()
}
