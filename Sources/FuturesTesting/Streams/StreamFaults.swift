internal import ByteStreams
internal import Futures

/// The faults that a ``MemoryStream`` causes while bytes are in transit. The ``seed`` decides which faults happen, so
/// that you can repeat a run.
///
/// Each probability is a number from 0 to 1, and applies to each piece. A piece consists of the bytes of one write, or
/// a part of them.
public struct StreamFaults: Hashable, Sendable {
    /// The seed of the run. With the same seed, the same faults happen to the same program.
    public var seed: UInt64
    /// The probability that a piece is delayed by up to ``maximumDelay``. Later pieces do not overtake it.
    public var delay = 0.0
    /// The probability that a piece arrives in several parts.
    public var fragment = 0.0
    /// The probability that a piece arrives together with the previous piece, if that has not been read yet.
    public var coalesce = 0.0
    /// The probability that the connection is reset after a piece. The reset arrives up to ``maximumDelay`` after the
    /// piece was sent. Bytes that have not arrived by then are lost, and both ends fail with
    /// ``MemoryStreamError/connectionReset``.
    public var reset = 0.0
    /// The probability that the connection is cut at a piece. From then on, nothing arrives at either end. An end whose
    /// bytes do not arrive fails with ``MemoryStreamError/timedOut`` after ``cutNotice``. An end that only reads never
    /// notices the cut.
    public var cut = 0.0
    /// The longest delay of a piece by ``delay``, and the longest time from a piece to the ``reset`` that follows it.
    public var maximumDelay: Duration = .milliseconds(100)
    /// The time after which an end fails if a ``cut`` has stopped bytes that it sent.
    public var cutNotice: Duration = .seconds(30)

    /// Creates faults with all probabilities at 0: no fault happens until you set a probability.
    public init(seed: UInt64 = 0) { self.seed = seed }

    /// The number of faults of each kind that have happened.
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
                "\(name) must be a probability from 0 to 1, not \(value)")
        }
        try requireArgument(
            maximumDelay >= .zero && cutNotice >= .zero,
            "maximumDelay and cutNotice must be zero or more, not \(maximumDelay) and \(cutNotice)")
    }
}

/// The error that broke a connection in memory.
public enum MemoryStreamError: Error, Hashable {
    /// The connection was reset: the other end aborted it, the other end was closed before it had read everything, or
    /// ``StreamFaults/reset`` caused the reset.
    case connectionReset
    /// The connection was cut (``StreamFaults/cut``), and bytes that this end sent did not arrive.
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
