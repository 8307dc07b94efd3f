public import ByteStreams

extension ChildProcess {
    /// A program and how to start it: arguments, environment, descriptors, limits and rights.
    ///
    /// ```swift
    /// var sort = ChildProcess.Configuration("sort", "--numeric-sort")
    /// sort.environment = .inheriting(with: ["LC_ALL": "C"])
    /// sort.workingDirectory = "/var/tmp"
    /// sort.standardInput = .stream
    /// ```
    public struct Configuration: Sendable {
        /// The path of the program. A name without a slash is searched for in the `PATH` of ``environment``.
        public var program: String
        /// The arguments, without the name of the program.
        public var arguments: [String]
        /// The program's own name, its argument 0. `nil` stands for ``program``.
        public var name: String?
        public var environment = Environment.inherited
        /// The working directory of the program. `nil` stands for that of this process. A relative path of the program
        /// or in `PATH` is relative to this directory.
        public var workingDirectory: String?

        public var standardInput = Input.null
        /// Where the standard output goes. `nil` stands for `.inherited`, and in `ChildProcess.run` for `.stream`.
        public var standardOutput: Output?
        /// Where the standard error goes. `nil` stands for `.inherited`, and in `ChildProcess.run` for `.stream`.
        public var standardError: Output?
        /// Further descriptors: the key is the number in the child, 3 or more, and the value is the number in this
        /// process. Two descriptors may swap their numbers. The child inherits no other descriptor of this process.
        public var descriptors: [Int32: Int32] = [:]
        /// The window size of a new terminal, or `nil` for a child without one. The terminal becomes the child's
        /// standard streams, the child leads a session of its own, and ``ChildProcess/terminal`` is the master side.
        public var terminal: DescriptorStream.WindowSize?

        /// Whether the child leaves the process group or the session of this process. If so, it leads a group, which
        /// ``ChildProcess/end(within:by:)`` ends as a whole.
        public var group = Group.inherited
        /// The resource limits that differ from those of this process. For example: `limits[.openFiles] = .init(64)`.
        public var limits: [Resource: ResourceLimit] = [:]
        /// The user that the program runs as, with its groups. `nil` stands for the user of this process. Only a
        /// privileged process can start a program as another user.
        public var user: User?
        /// The file mode creation mask: the permissions that new files of the program do not get, such as `0o077`.
        /// `nil` stands for the mask of this process.
        public var fileMask: UInt32?
        /// Whether the child is killed when its loop is shut down. If `false`, the child keeps running.
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

    /// The environment variables of a child.
    public enum Environment: Hashable, Sendable {
        /// The environment of this process.
        case inherited
        /// The environment of this process, with these variables added or changed.
        case inheriting(with: [String: String])
        /// These variables only.
        case only([String: String])
        /// These variables only, as raw bytes. For names that are equal as Swift strings but differ in their bytes.
        case bytes([[UInt8]: [UInt8]])

        /// The variables of this process, as raw bytes. No other code should change them at the same time.
        public static var bytesOfThisProcess: [[UInt8]: [UInt8]] { EnvironmentVariable.all }
    }

    /// The source of a child's standard input.
    public enum Input: Hashable, Sendable {
        /// Nothing: the child reads the end at once.
        case null
        /// The standard input of this process.
        case inherited
        /// A stream to which this process writes: ``ChildProcess/standardInput``.
        case stream
        /// The file at this path.
        case file(String)
        /// A descriptor of this process, which stays open. The child inherits its mode, and most programs need a
        /// blocking one: clear `O_NONBLOCK` of a socket that a connection has released.
        case descriptor(Int32)
    }

    /// The destination of a child's standard output or standard error.
    public enum Output: Hashable, Sendable {
        /// Nowhere.
        case null
        /// To the same stream of this process.
        case inherited
        /// To this process, which reads ``ChildProcess/standardOutput`` or ``ChildProcess/standardError``. A child that
        /// writes faster than this process reads has to wait.
        case stream
        /// To the file at this path, which is created if necessary. With `appending`, output is added at its end;
        /// otherwise it replaces the contents.
        case file(String, appending: Bool)
        /// To a descriptor of this process, which stays open. The child inherits its mode, see
        /// ``Input/descriptor(_:)``.
        case descriptor(Int32)
        /// To the same place as the standard output. Allowed only for the standard error.
        case standardOutput
    }

    /// The process group and the session of a child. A terminal sends signals, such as that of Ctrl-C, to a group.
    public enum Group: Hashable, Sendable {
        /// The group of this process.
        case inherited
        /// A new group, which the child leads.
        case newGroup
        /// A new session without a terminal, and a new group in it.
        case newSession
    }

    /// The default limits of streams to children: ``ByteStreams/StreamLimits`` without time limits.
    public static var defaultStreamLimits: StreamLimits {
        var limits = StreamLimits()
        (limits.writeTimeout, limits.framingTimeout) = (nil, nil)
        return limits
    }
}
