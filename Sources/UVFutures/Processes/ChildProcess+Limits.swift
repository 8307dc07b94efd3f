internal import Glibc

extension ChildProcess {
    /// A resource of which a process may be allowed only so much.
    public enum Resource: String, Hashable, Sendable, CaseIterable {
        /// One more than the highest number of a descriptor: `RLIMIT_NOFILE`.
        case openFiles
        /// The time on processors, in seconds: `RLIMIT_CPU`. The process gets `SIGXCPU`, and is killed at the hard limit.
        case processorTime
        /// The address space, in bytes: `RLIMIT_AS`.
        case addressSpace
        /// The data segment, in bytes: `RLIMIT_DATA`.
        case data
        /// The stack of the main thread, in bytes: `RLIMIT_STACK`.
        case stack
        /// A file that the process writes, in bytes: `RLIMIT_FSIZE`.
        case fileSize
        /// The image of the memory that a crash leaves, in bytes: `RLIMIT_CORE`.
        case coreSize
        /// The processes and threads of the same user: `RLIMIT_NPROC`.
        case processes
        /// The memory that is locked, in bytes: `RLIMIT_MEMLOCK`.
        case lockedMemory

        var number: CInt {
            switch self {
            case .openFiles: CInt(RLIMIT_NOFILE.rawValue)
            case .processorTime: CInt(RLIMIT_CPU.rawValue)
            case .addressSpace: CInt(RLIMIT_AS.rawValue)
            case .data: CInt(RLIMIT_DATA.rawValue)
            case .stack: CInt(RLIMIT_STACK.rawValue)
            case .fileSize: CInt(RLIMIT_FSIZE.rawValue)
            case .coreSize: CInt(RLIMIT_CORE.rawValue)
            case .processes: CInt(__RLIMIT_NPROC.rawValue)
            case .lockedMemory: CInt(__RLIMIT_MEMLOCK.rawValue)
            }
        }
    }

    /// How much of a resource a process may use.
    public struct ResourceLimit: Hashable, Sendable {
        /// The limit in force.
        public var soft: UInt64
        /// The value up to which the process may raise its own limit.
        public var hard: UInt64

        /// Creates a limit that the process cannot raise.
        public init(_ limit: UInt64) { self.init(soft: limit, hard: limit) }

        public init(soft: UInt64, hard: UInt64) {
            self.soft = soft
            self.hard = hard
        }

        /// No limit.
        public static let unlimited = ResourceLimit(.max)
    }
}
