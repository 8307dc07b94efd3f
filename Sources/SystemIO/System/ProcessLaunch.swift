package import Futures

/// The description of a process to start, in the terms of a system.
package struct ProcessLaunch {
    /// The object that a descriptor of the child refers to.
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
        /// The same object as for descriptor 1.
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
    /// The candidate files of the program. The first one that can be executed is used.
    package var paths: [[UInt8]]
    /// The arguments. The first one is the program's name for itself.
    package var arguments: [String]
    /// The variables, each as `NAME=value`.
    package var environment: [[UInt8]]
    /// The working directory. `nil` for that of this process.
    package var directory: String?
    /// The descriptors of the child: 0, 1 and 2 at least.
    package var sources: [CInt: Source]
    package var makesSession = false
    package var makesGroup = false
    /// The size of the window of a new terminal. `nil` if the child gets no new terminal.
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

/// A started process, and this side of its streams, by their descriptors in the child.
package typealias ProcessStart = (process: any ProcessHandle, carriers: [CInt: any StreamCarrier])

/// A child process in a system. It keeps its loop running until it ends. It can be signalled until it is closed.
package protocol ProcessHandle: AnyObject {
    var loop: LoopCore { get }
    /// The number of the process.
    var id: Int32 { get }
    /// Whether the group that this process led has a process that has not ended. Used after this process has ended.
    var groupLives: Bool { get }
    /// Called once, when the process has ended: with its status as `waitpid` gives it, or with `nil` if other code has
    /// taken the status. The call comes in a turn.
    var onEnd: (_ status: CInt?) -> Void { get set }
    /// Called when the loop is shut down before the handle is closed.
    var onAbort: () -> Void { get set }
    /// Sends a signal to the process, or to its group. Returns `false` if the receiver no longer exists.
    func signal(_ number: CInt, toGroup: Bool) throws(SystemError) -> Bool
    /// Changes the size of the new terminal's window.
    func setWindow(columns: UInt16, rows: UInt16) throws(SystemError)
    /// Releases the process and its group, which have ended.
    func close()
}
