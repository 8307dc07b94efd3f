internal import ByteStreams
internal import Futures

/// The faults that a ``MemoryStream`` injects into bytes on their way. A seed decides, so that a run can be repeated.
///
/// Each probability, from 0 to 1, applies to one piece: what one write hands over, or less of it.
public struct StreamFaults: Hashable, Sendable {
    /// The seed of the run. The same seed does the same to the same program.
    public var seed: UInt64
    /// The probability that a piece, and so what follows it, takes up to ``maximumDelay`` longer.
    public var delay = 0.0
    /// The probability that a piece arrives in several parts.
    public var fragment = 0.0
    /// The probability that a piece arrives together with the one before, if that has not been read yet.
    public var coalesce = 0.0
    /// The probability that the connection is reset, up to ``maximumDelay`` later. Then what has not arrived is lost,
    /// and both ends hear of it.
    public var reset = 0.0
    /// The probability that the cable is cut: from now on nothing arrives, on either side, and nobody is told. An end
    /// that has sent something fails with ``MemoryStreamError/timedOut`` after ``cutNotice``. An end that only reads
    /// never hears anything.
    public var cut = 0.0
    public var maximumDelay: Duration = .milliseconds(100)
    public var cutNotice: Duration = .seconds(30)

    /// Creates settings without faults, until some are made probable.
    public init(seed: UInt64 = 0) { self.seed = seed }

    /// The number of times each fault was injected.
    public struct Counts: Hashable, Sendable {
        public var delayed = 0
        public var fragmented = 0
        public var coalesced = 0
        public var resets = 0
        public var cuts = 0

        public init() {}

        public static func += (sum: inout Counts, counts: Counts) {
            sum.delayed += counts.delayed
            sum.fragmented += counts.fragmented
            sum.coalesced += counts.coalesced
            sum.resets += counts.resets
            sum.cuts += counts.cuts
        }
    }

    func validate() throws {
        let probabilities = [
            ("delay", delay), ("fragment", fragment), ("coalesce", coalesce), ("reset", reset), ("cut", cut),
        ]
        for (name, value) in probabilities where !(0...1).contains(value) {
            throw FutureError.invalidArgument(
                "a probability of \(value) to \(name) makes no sense; give 0 to 1")
        }
        guard maximumDelay >= .zero, cutNotice >= .zero else {
            throw FutureError.invalidArgument(
                "delays of \(maximumDelay) and \(cutNotice) make no sense; give zero or more")
        }
    }
}

/// The reason why a connection in memory broke.
public enum MemoryStreamError: Error, Hashable {
    /// The other end aborted, was closed before it had read everything, or a fault was injected.
    case connectionReset
    /// What was sent into a connection that had been cut was never acknowledged.
    case timedOut
}

extension MemoryStreamError: Disconnecting {
    package var meansDisconnection: Bool { true }
}

extension MemoryStreamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connectionReset: "the connection in memory was reset"
        case .timedOut: "the connection in memory timed out: what was sent was never acknowledged"
        }
    }
}
