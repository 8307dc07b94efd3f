public import ByteStreams

extension ChildProcess {
    /// A program and everything that it starts with: arguments, environment, descriptors, limits and rights.
    ///
    /// ```swift
    /// var sort = ChildProcess.Configuration("sort", "--numeric-sort")
    /// sort.environment = .inheriting(with: ["LC_ALL": "C"])
    /// sort.workingDirectory = "/var/tmp"
    /// sort.standardInput = .stream
    /// ```
    public struct Configuration: Sendable {
        /// The path of the program. A name without a slash is looked for in the `PATH` of ``environment``.
        public var program: String
        /// The arguments, without the name of the program.
        public var arguments: [String]
        /// The name that the program has for itself, its argument 0. `nil` stands for ``program``.
        public var name: String?
        public var environment = Environment.inherited
        /// The directory in which the program begins. `nil` stands for the directory of this process. A relative path
        /// of the program or in `PATH` is relative to this directory.
        public var workingDirectory: String?

        public var standardInput = Input.null
        /// Where the standard output goes. `nil` stands for `.inherited`, and in `ChildProcess.run` for `.stream`.
        public var standardOutput: Output?
        /// Where the standard error goes. `nil` stands for `.inherited`, and in `ChildProcess.run` for `.stream`.
        public var standardError: Output?
        /// Further descriptors: the number in the child, and the number in this process. Both may be any numbers, and
        /// may change places. The child inherits no other descriptor of this process.
        public var descriptors: [Int32: Int32] = [:]
        /// The size of the window of a new terminal. If it is not `nil`, the standard streams of the child are that
        /// terminal, in a session of its own, and ``ChildProcess/terminal`` is its other side.
        public var terminal: DescriptorStream.WindowSize?

        /// Whether the child leaves the process group or the session of this process. It then leads a group, which
        /// ``ChildProcess/end(within:by:)`` ends as a whole.
        public var group = Group.inherited
        /// The limits of resources that differ from those of this process. For example: `limits[.openFiles] = .init(64)`.
        public var limits: [Resource: ResourceLimit] = [:]
        /// The user that the program runs as, with its groups. `nil` stands for the user of this process. Only a
        /// privileged process can start a program as another user.
        public var user: User?
        /// The permissions that new files of the program do not get, such as `0o077`. `nil` stands for those of this
        /// process.
        public var fileMask: UInt32?
        /// Whether the child is killed when its loop is shut down. If `false`, the child runs on.
        public var endsWithLoop = true
        /// The limits of the streams to the child. Unlike those of a connection, they have no time limits by default.
        public var streamLimits = ChildProcess.defaultStreamLimits

        public init(_ program: String, arguments: [String]) {
            self.program = program
            self.arguments = arguments
        }

        public init(_ program: String, _ arguments: String...) {
            self.init(program, arguments: arguments)
        }
    }

    /// The variables of the environment of a child.
    public enum Environment: Hashable, Sendable {
        /// The environment of this process.
        case inherited
        /// The environment of this process, with these variables added or changed.
        case inheriting(with: [String: String])
        /// These variables only.
        case only([String: String])
        /// These variables only, in the bytes of the system. For names that Swift takes for equal, and differ in bytes.
        case bytes([[UInt8]: [UInt8]])

        /// The variables of this process, in the bytes of the system. No other code should change them at the same time.
        public static var bytesOfThisProcess: [[UInt8]: [UInt8]] { EnvironmentVariable.all }
    }

    /// What a child reads as its standard input.
    public enum Input: Hashable, Sendable {
        /// Nothing: the child finds the end at once.
        case null
        /// The standard input of this process.
        case inherited
        /// What this process writes to ``ChildProcess/standardInput``.
        case stream
        /// The file at this path.
        case file(String)
        /// A descriptor of this process, which stays open. The child gets it in its mode: a socket that a connection has
        /// released is non-blocking, so that most programs need `O_NONBLOCK` to be cleared first.
        case descriptor(Int32)
    }

    /// Where the standard output or the standard error of a child goes.
    public enum Output: Hashable, Sendable {
        /// Nowhere.
        case null
        /// To the same stream of this process.
        case inherited
        /// To this process, which reads ``ChildProcess/standardOutput`` or ``ChildProcess/standardError``. A child that
        /// writes faster than this process reads waits.
        case stream
        /// To the file at this path, which is made if necessary. With `appending`, behind what it has; otherwise in its
        /// place.
        case file(String, appending: Bool)
        /// To a descriptor of this process, which stays open. The child gets it in its mode, see ``Input/descriptor(_:)``.
        case descriptor(Int32)
        /// To the same place as the standard output. Only for the standard error.
        case standardOutput
    }

    /// The process group and the session of a child. A signal that a terminal sends, such as Ctrl-C, goes to a group.
    public enum Group: Hashable, Sendable {
        /// The group of this process.
        case inherited
        /// A new group, which the child leads.
        case newGroup
        /// A new session without a terminal, and a new group in it.
        case newSession
    }

    /// The limits of streams to children: ``ByteStreams/StreamLimits`` without time limits.
    public static var defaultStreamLimits: StreamLimits {
        var limits = StreamLimits()
        (limits.writeTimeout, limits.framingTimeout) = (nil, nil)
        return limits
    }
}
