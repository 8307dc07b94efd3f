internal import CFuturesSystem
internal import Glibc

extension ChildProcess {
    /// A resource whose use by a process can be limited.
    public enum Resource: String, Hashable, Sendable, CaseIterable {
        /// The highest descriptor number plus one: `RLIMIT_NOFILE`.
        case openFiles
        /// The processor time, in seconds: `RLIMIT_CPU`. The process gets `SIGXCPU`, and is killed at the hard limit.
        case processorTime
        /// The address space, in bytes: `RLIMIT_AS`.
        case addressSpace
        /// The data segment, in bytes: `RLIMIT_DATA`.
        case data
        /// The stack of the main thread, in bytes: `RLIMIT_STACK`.
        case stack
        /// The size of a file that the process writes, in bytes: `RLIMIT_FSIZE`.
        case fileSize
        /// The size of a core dump, in bytes: `RLIMIT_CORE`.
        case coreSize
        /// The number of processes and threads of the same user: `RLIMIT_NPROC`.
        case processes
        /// The locked memory, in bytes: `RLIMIT_MEMLOCK`.
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

    /// The soft and hard limit of a resource.
    public struct ResourceLimit: Hashable, Sendable {
        /// The limit in force.
        public var soft: UInt64
        /// The value to which the process may raise its own limit.
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
