public import FoundationEssentials

/// The test's end of a simulated program's standard input: the program reads what the test writes here.
///
/// Each start of a host has a new one, see ``SimulatedHost/standardInput``.
public struct SimulatedInput {
    let pipe: StandardPipe

    /// Writes `bytes`, which the program reads at its own pace. Never waits: see ``unreadBytes`` for the number of
    /// bytes that the program has not read.
    ///
    /// Returns `false`, and writes nothing, after ``end()`` or once the program has ended.
    @discardableResult
    public func write(_ bytes: Data) -> Bool {
        guard !pipe.hasEnded, !pipe.isAbandoned else { return false }
        pipe.append(bytes)
        return true
    }

    /// Writes `text` as UTF-8, otherwise like `write(_:)` of bytes. A line ends with `\n`.
    @discardableResult
    public func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    /// Ends the input. The program reads all earlier bytes, and then the end.
    public func end() { pipe.endWriting() }

    /// The number of bytes that the program has not read. Bytes that a stream of the program has buffered in advance,
    /// up to `StreamLimits.readHighWaterMark`, do not count.
    public var unreadBytes: Int { pipe.unread.count }
}
