internal import Futures

extension World {
    /// Something that goes wrong in a ``World`` for a time. Its description is the Swift expression that creates it.
    public struct Fault: Hashable, Sendable {
        /// The kinds of faults.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            /// A host crashes, and is restarted when the fault ends.
            case crash
            /// The program of a host is paused.
            case pause
            /// Two hosts cannot reach each other.
            case partition
            /// Nothing passes from one host to another. The opposite direction stays open.
            case partitionOneWay
            /// Messages between two hosts are held.
            case hold
            /// Messages between two hosts are delayed by the duration of the fault, but by at most 1 s.
            case slow
            /// The connections between two hosts are reset, unless a partition stops the reset. This fault has no
            /// duration.
            case breakConnections
            /// Some of the datagrams between two hosts are lost, duplicated or reordered.
            case unreliable
            /// A host has no descriptors left.
            case outOfDescriptors
            /// Queries for the name of a host get no answer.
            case silentName
            /// Each operation of a host's disk is delayed by the duration of the fault, but by at most 1 s.
            case slowDisk
            /// A host's disk is full.
            case fullDisk
            /// One in three operations of a host's disk fails.
            case failingDisk

            /// Whether the fault affects only programs that use files.
            var isOfDisk: Bool { [.slowDisk, .fullDisk, .failingDisk].contains(self) }

            /// Whether the fault affects two hosts.
            var isOfLink: Bool {
                switch self {
                case .crash, .pause, .outOfDescriptors, .silentName, .slowDisk, .fullDisk, .failingDisk: false
                case .partition, .partitionOneWay, .hold, .slow, .breakConnections, .unreliable: true
                }
            }
        }

        public let kind: Kind
        /// The name of the affected host, or the names of the two affected hosts.
        public let hosts: [String]
        /// The time of the world at which the fault begins, and its duration.
        public let start: Duration
        public let duration: Duration

        init(kind: Kind, hosts: [String], start: Duration, duration: Duration) {
            if start < .zero || duration < .zero {
                fatalError(
                    "The start and the duration of a fault must be zero or more, not \(start) and \(duration)."
                )
            }
            self.kind = kind
            self.hosts = hosts
            self.start = start
            self.duration = duration
        }

        public static func crash(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .crash, hosts: [host], start: start, duration: lasting)
        }

        public static func pause(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .pause, hosts: [host], start: start, duration: lasting)
        }

        public static func partition(_ a: String, _ b: String, at start: Duration, lasting: Duration) -> Fault
        {
            Fault(kind: .partition, hosts: [a, b], start: start, duration: lasting)
        }

        public static func partitionOneWay(
            from a: String, to b: String, at start: Duration, lasting: Duration
        ) -> Fault {
            Fault(kind: .partitionOneWay, hosts: [a, b], start: start, duration: lasting)
        }

        public static func hold(_ a: String, _ b: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .hold, hosts: [a, b], start: start, duration: lasting)
        }

        public static func slow(_ a: String, _ b: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .slow, hosts: [a, b], start: start, duration: lasting)
        }

        public static func breakConnections(_ a: String, _ b: String, at start: Duration) -> Fault {
            Fault(kind: .breakConnections, hosts: [a, b], start: start, duration: .zero)
        }

        public static func unreliable(_ a: String, _ b: String, at start: Duration, lasting: Duration)
            -> Fault
        {
            Fault(kind: .unreliable, hosts: [a, b], start: start, duration: lasting)
        }

        public static func outOfDescriptors(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .outOfDescriptors, hosts: [host], start: start, duration: lasting)
        }

        public static func silentName(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .silentName, hosts: [host], start: start, duration: lasting)
        }

        public static func slowDisk(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .slowDisk, hosts: [host], start: start, duration: lasting)
        }

        public static func fullDisk(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .fullDisk, hosts: [host], start: start, duration: lasting)
        }

        public static func failingDisk(_ host: String, at start: Duration, lasting: Duration) -> Fault {
            Fault(kind: .failingDisk, hosts: [host], start: start, duration: lasting)
        }
    }

    /// The kinds of faults that ``World/injectFaults(_:until:)`` causes, how often they happen, and how long they last.
    public struct FaultMix: Hashable, Sendable {
        /// The kinds of faults that may happen. By default all except those of disks.
        public var kinds: [Fault.Kind] = Fault.Kind.allCases.filter { !$0.isOfDisk }
        /// The names of the hosts that may be affected. `nil` for all hosts.
        public var hosts: [String]?
        /// The time from the beginning of one fault to the beginning of the next.
        public var interval: ClosedRange<Duration> = .milliseconds(50)...(.seconds(2))
        /// The duration of a fault.
        public var duration: ClosedRange<Duration> = .milliseconds(10)...(.seconds(3))

        /// Creates a mix of all kinds of faults.
        public init() {}
    }
}

extension World.Fault: CustomStringConvertible {
    public var description: String {
        let names = hosts.map { "\"\($0)\"" }
        let place =
            kind == .partitionOneWay ? "from: \(names[0]), to: \(names[1])" : names.joined(separator: ", ")
        let end = kind == .breakConnections ? "" : ", lasting: \(Self.source(duration))"
        return ".\(kind.rawValue)(\(place), at: \(Self.source(start))\(end))"
    }

    private static func source(_ duration: Duration) -> String {
        let nanoseconds = duration.wholeNanoseconds!
        return nanoseconds.isMultiple(of: 1_000_000)
            ? ".milliseconds(\(nanoseconds / 1_000_000))" : ".nanoseconds(\(nanoseconds))"
    }
}
