public import FoundationEssentials

/// The other end of a simulated program's standard input: a test writes here what the program reads.
///
/// Each start of a host has a new one, see ``SimulatedHost/standardInput``.
public struct SimulatedInput {
    let pipe: StandardPipe

    /// Writes `bytes`, which the program reads at its own pace. Never waits: ``unreadBytes`` says how much the
    /// program has left.
    ///
    /// Returns `false`, and writes nothing, after ``end()`` or when the program has ended.
    @discardableResult
    public func write(_ bytes: Data) -> Bool {
        guard !pipe.hasEnded, !pipe.isAbandoned else { return false }
        pipe.append(bytes)
        return true
    }

    /// Writes `text` in UTF-8, as `write(_:)` of bytes does. A line ends with `\n`.
    @discardableResult
    public func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    /// Ends the input. The program reads what was written before, and then the end.
    public func end() { pipe.endWriting() }

    /// The number of bytes that the program has not read. Bytes that a stream of the program has read ahead, up to
    /// `StreamLimits.readHighWaterMark`, do not count.
    public var unreadBytes: Int { pipe.unread.count }
}
