/// A command of the protocol of Redis, as ranges of the bytes that it came in: its name, and what stands behind it.
public struct RESPCommand {
    /// The ranges of the name and the arguments. Empty for a command of no words, which has no answer.
    public let words: [Range<Int>]
    /// The words of a line, without spaces and quotes: then these are the bytes that the ranges are of.
    public let line: [UInt8]?

    init(_ words: [Range<Int>], line: [UInt8]? = nil) {
        self.words = words
        self.line = line
    }
}

/// What a peer did that the protocol forbids. Nothing that follows can be understood.
public struct RESPError: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ complaint: String) { description = "Protocol error: \(complaint)" }
}
