/// The open watches of files of a loop, and what all its watches have done so far.
package struct OpenWatches {
    /// Returns the description of each open watch, in one line.
    package var lines: [ObjectIdentifier: () -> String] = [:]
    package var counts = FileWatchCounts()
}

/// The numbers of the file changes that were found, by what has become of them.
package struct FileWatchCounts: Hashable, Sendable {
    /// The changes that were handed to code that watches.
    package var told: UInt64 = 0
    /// The changes that were delivered as a part of another one, or not at all because another one undid them.
    package var merged: UInt64 = 0
    /// How often single changes were replaced by a `lookAgain`.
    package var overflows: UInt64 = 0

    package init() {}
}
