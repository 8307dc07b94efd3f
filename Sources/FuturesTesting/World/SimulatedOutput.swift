public import FoundationEssentials

/// The test's end of a simulated program's standard output or standard error: the test reads here what the program
/// wrote. Output of `print` is not included.
///
/// Each start of a host has new ones, see ``SimulatedHost/standardOutput``.
public struct SimulatedOutput {
    let pipe: StandardPipe

    /// The bytes that the program has written and the test has not read.
    public var unread: Data { pipe.unread }

    /// Removes and returns all unread bytes. Empty if there are none.
    public func read() -> Data { pipe.take(most: .max) }

    /// Removes and returns the first unread line, without its `\n`. Returns `nil` if there is no complete line. Once
    /// the program has ended its output, the rest also counts as a line.
    public func readLine() -> String? {
        guard let end = pipe.unread.firstIndex(of: UInt8(ascii: "\n")) else {
            return pipe.hasEnded && !pipe.unread.isEmpty ? String(decoding: read(), as: UTF8.self) : nil
        }
        let line = pipe.take(most: end - pipe.unread.startIndex + 1)
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// Removes and returns all unread lines, in the form of ``readLine()``.
    public func readLines() -> [String] {
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        return lines
    }

    /// Whether the output has ended: the program has called `shutdownWrite()`, or has ended.
    public var hasEnded: Bool { pipe.hasEnded }

    /// The largest number of unread bytes in the pipe. When the pipe is full, the program's writes wait until bytes are
    /// read. By default there is no limit. A pipe of Linux holds 65,536 bytes. Traps if the capacity is less than 1.
    public var capacity: Int {
        get { pipe.capacity }
        nonmutating set {
            guard newValue > 0 else {
                fatalError("The capacity of a pipe must be at least 1, not \(newValue).")
            }
            pipe.capacity = newValue
        }
    }

    /// Closes this end, like a reader that exits. From now on, the program's writes fail with
    /// `SystemError.Code.brokenPipe`.
    public func close() { pipe.abandon() }
}
