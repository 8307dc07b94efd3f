internal import ByteStreams
internal import Futures

/// The faults that a ``MemoryStream`` injects into bytes on their way. The ``seed`` decides which faults happen, so
/// that a run can be repeated.
///
/// Each probability is a number from 0 to 1, and applies to one piece. A piece is the data of one write, or a
/// part of that data.
public struct StreamFaults: Hashable, Sendable {
    /// The seed of the run. With the same seed, the same faults happen to the same program.
    public var seed: UInt64
    /// The probability that a piece takes up to ``maximumDelay`` longer. The pieces that follow wait for this piece.
    public var delay = 0.0
    /// The probability that a piece arrives in several parts.
    public var fragment = 0.0
    /// The probability that a piece arrives together with the piece before, if that piece has not been read yet.
    public var coalesce = 0.0
    /// The probability that the connection is reset, up to ``maximumDelay`` after a piece is sent. The bytes that have
    /// not arrived by then are lost, and both ends are told of the reset.
    public var reset = 0.0
    /// The probability that the cable is cut. From then on nothing arrives at either end, and neither end is told. An
    /// end that has sent something fails with ``MemoryStreamError/timedOut`` after ``cutNotice``. An end that only
    /// reads never notices the cut.
    public var cut = 0.0
    /// The longest additional time that a delayed piece takes, and the longest time between a piece and the
    /// ``reset`` that follows it.
    public var maximumDelay: Duration = .milliseconds(100)
    /// The time after which an end that has sent something notices a ``cut``.
    public var cutNotice: Duration = .seconds(30)

    /// Creates settings with all probabilities at 0: no fault happens until you set one.
    public init(seed: UInt64 = 0) { self.seed = seed }

    /// The number of times that each kind of fault was injected.
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
        try requireArgument(
            maximumDelay >= .zero && cutNotice >= .zero,
            "delays of \(maximumDelay) and \(cutNotice) make no sense; give zero or more")
    }
}

/// The reason why a connection in memory broke.
public enum MemoryStreamError: Error, Hashable {
    /// The other end aborted the connection, or was closed before it had read everything, or the reset was an injected
    /// fault.
    case connectionReset
    /// The connection was cut, and what this end sent was never acknowledged.
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
